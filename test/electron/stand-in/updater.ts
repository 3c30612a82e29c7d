// In place of electron-updater: an update server that has a newer version, and an installer that ends the app.
import { EventEmitter } from 'node:events';
import { app } from './app.ts';
import { offeredVersion } from './environment.ts';
import { report } from './happenings.ts';
import { isAnyRunning } from './utility-process.ts';

type Step = 'download' | 'install';
const told = (step: Step, silent = false, relaunch = false) =>
  report({ event: 'update', step, silent, relaunch, serverRuns: isAnyRunning() });

class AppUpdater extends EventEmitter {
  autoDownload = true;
  autoInstallOnAppQuit = true;
  allowDowngrade = false;
  netSession = { webRequest: { onBeforeRequest: () => {} } };
  setFeedURL = () => {};
  checkForUpdates = async () => ({
    isUpdateAvailable: true,
    updateInfo: { version: offeredVersion, files: [] },
  });

  /** @returns the files that were downloaded */
  async downloadUpdate(): Promise<string[]> {
    told('download');
    return [];
  }

  /** Starts the installer at once, then quits. Without both arguments nothing starts the app again. */
  quitAndInstall(isSilent = false, isForceRunAfter = false): void {
    told('install', isSilent, isForceRunAfter);
    setImmediate(() => app.quit());
  }
}

export const autoUpdater = new AppUpdater();
