// Said when the server does not come up: why, what can be done, and what it said last.
import { join } from 'node:path';
import { shell } from 'electron';
import type { RefusalCause } from '../server/parent-port.ts';
import type { FailureAction } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';
import { texts } from './texts.ts';

/** `key`: of this shell's own; `crashes`: it ended again and again without a reason that anybody gave. */
export type FailureCause = RefusalCause | 'key' | 'crashes';

export interface Failure {
  cause: FailureCause;
  reason: string;
  log: string;
}

interface Needs {
  window: Pick<ShellWindow, 'ask' | 'close'>;
  dataDir: string;
}

/** @returns whether to try again; else, the app is to be left */
export async function askToTryAgain(
  { cause, reason, log }: Failure,
  { window, dataDir }: Needs,
): Promise<boolean> {
  const { refused, advice, tryAgain, showDataDirectory, showLogs, quit, log: logTitle } = texts();
  const actions: { name: FailureAction; label: string }[] = [
    { name: 'try_again', label: tryAgain },
    { name: 'show_data', label: showDataDirectory },
    { name: 'show_logs', label: showLogs },
    { name: 'quit', label: quit },
  ];
  const folders: Partial<Record<FailureAction, string>> = {
    show_data: dataDir,
    show_logs: join(dataDir, 'logs'),
  };
  for (;;) {
    const answer = await window.ask({
      kind: 'failure',
      title: refused[cause],
      reason,
      advice: advice[cause],
      // One line would only be the reason once more.
      log: log.includes('\n') ? log : '',
      logTitle,
      actions,
    });
    const action = answer?.kind === 'failure' ? answer.action : 'quit';
    const folder = folders[action];
    if (folder === undefined) {
      window.close();
      return action === 'try_again';
    }
    await shell.openPath(folder);
  }
}
