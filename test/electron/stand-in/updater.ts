// In place of electron-updater: an update server that has a newer version, and an installer that ends the app.
import { EventEmitter } from 'node:events';
import { app } from './app.ts';
import { isDownloadInterrupted, isInstallRefused, offeredVersion, platform } from './environment.ts';
import { report } from './happenings.ts';
import { closeAllWindows } from './lifecycle.ts';
import { emit, strictEmitter } from './strict.ts';
import { isAnyRunning } from './utility-process.ts';

type Step = 'download' | 'install';
const told = (step: Step, silent = false, relaunch = false) =>
  report({ event: 'update', step, silent, relaunch, serverRuns: isAnyRunning() });

/** Electron's `autoUpdater`, which electron-updater uses on macOS. Elsewhere it only announces the end of the app. */
export const nativeUpdater = strictEmitter<Electron.AutoUpdater>('autoUpdater', {
  quitAndInstall() {
    emit(nativeUpdater, 'before-quit-for-update');
    closeAllWindows(() => {
      if (isInstallRefused) emit(nativeUpdater, 'error', new Error('the installer was refused'));
      else {
        told('install', true, true);
        setImmediate(() => app.quit());
      }
    });
  },
} satisfies Partial<Electron.AutoUpdater>);

class AppUpdater extends EventEmitter {
  autoDownload = true;
  autoInstallOnAppQuit = true;
  allowDowngrade = false;
  #isInstalling = false;
  netSession = { webRequest: { onBeforeRequest: () => {} } };
  setFeedURL = () => {};
  checkForUpdates = async () => ({
    isUpdateAvailable: true,
    updateInfo: { version: offeredVersion, files: [] },
  });

  constructor() {
    super();
    this.on('error', () => {});
    nativeUpdater.on('error', (error) => this.emit('error', error));
  }

  /** @returns the files that were downloaded */
  async downloadUpdate(): Promise<string[]> {
    told('download');
    if (isDownloadInterrupted) throw new Error('net::ERR_CONNECTION_RESET');
    // As electron-updater's `addQuitHandler`. Squirrel.Mac has its own way.
    if (platform !== 'darwin' && this.autoInstallOnAppQuit)
      app.once('quit', (_event, exitCode) => {
        if (this.autoInstallOnAppQuit && !this.#isInstalling && exitCode === 0) told('install', true);
      });
    return [];
  }

  /** Starts the installer at once, then quits; on macOS in the other order. Without both arguments nothing starts the app again. */
  quitAndInstall(isSilent = false, isForceRunAfter = false): void {
    if (platform === 'darwin') return nativeUpdater.quitAndInstall();
    if (isInstallRefused) return void this.emit('error', new Error('the installer was refused'));
    this.#isInstalling = true;
    told('install', isSilent, isForceRunAfter);
    setImmediate(() => {
      emit(nativeUpdater, 'before-quit-for-update');
      app.quit();
    });
  }
}

export const autoUpdater = new AppUpdater();
