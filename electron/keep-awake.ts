// Keeps the computer awake while the server runs, if the administrator enabled it.
import { powerSaveBlocker } from 'electron';
import type { PreferenceStore } from './preferences.ts';

export interface KeepAwake {
  serverRuns(isRunning: boolean): void;
}

/** The display may still sleep. */
export function setUpKeepAwake(preferences: Pick<PreferenceStore, 'read' | 'onChange'>): KeepAwake {
  let isRunning = false;
  let blocker: number | null = null;

  function update(): void {
    const isWanted = isRunning && preferences.read().keep_awake;
    if (isWanted && blocker === null) blocker = powerSaveBlocker.start('prevent-app-suspension');
    if (!isWanted && blocker !== null) {
      powerSaveBlocker.stop(blocker);
      blocker = null;
    }
  }

  preferences.onChange(update);
  return {
    serverRuns(isNow) {
      isRunning = isNow;
      update();
    },
  };
}
