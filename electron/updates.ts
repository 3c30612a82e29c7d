// Checks for new versions at an address that the administrator sets. Disabled unless one is set.
import { join } from 'node:path';
import { app, dialog } from 'electron';
import type { AppUpdater } from 'electron-updater';
import type { FoundUpdate } from './signed-updates.ts';
import { texts } from './texts.ts';
import { pinnedUpdateKey } from './update-key.ts';

const EVERY_MS = 24 * 60 * 60 * 1000;

interface Needs {
  /** Null disables the checks. */
  address(): string | null;
  /** @returns false if the page would lose something and the user stays */
  closeWindow(): Promise<boolean>;
  /** Opens the window again, once the server runs. */
  openWindow(): void;
  /** Resolves when the server has stopped, so that the installer finds no process of the app. */
  stopServer(): Promise<void>;
  /** The installation failed, so the server must run again. */
  startServer(): Promise<void>;
  /** The installer starts the app again without its command line. */
  rememberStart(): void;
  /** The update is not installed, so the next start is an ordinary one. */
  forgetStart(): void;
  onAppImageRenamed(path: string): void;
}

export interface Updates {
  /** For the menu: also reports that there is no new version. */
  check(): Promise<void>;
  /**
   * Keeps electron-updater from starting the installer of a downloaded update at the end of the app: Windows would kill it
   * with the session, in the middle of the files that it replaces (electron-userland/electron-builder#7807).
   */
  leaveForLater(): void;
}

/** Loaded on first use: most installations never check for updates. */
let loaded: AppUpdater | null = null;

async function checkAt(address: string, needs: Needs): Promise<[FoundUpdate | null, AppUpdater]> {
  const [{ default: updater }, { findUpdate }] = await Promise.all([
    import('electron-updater'),
    import('./signed-updates.ts'),
  ]);
  const { autoUpdater } = updater;
  loaded = autoUpdater;
  // A redirect must not lead away from https.
  autoUpdater.netSession.webRequest.onBeforeRequest({ urls: ['http://*/*'] }, (_request, answer) =>
    answer({ cancel: true }),
  );
  autoUpdater.removeAllListeners('appimage-filename-updated');
  autoUpdater.on('appimage-filename-updated', needs.onAppImageRenamed);
  const found = await findUpdate(autoUpdater, {
    address,
    publicKey: pinnedUpdateKey(),
    historyFile: join(app.getPath('userData'), 'updates.json'),
  });
  return [found, autoUpdater];
}

const say = (type: 'info' | 'error', message: string, detail = '') =>
  dialog.showMessageBox({ type, message, detail, noLink: true });

const sayNotInstalled = (version: string, error: unknown) =>
  say('error', texts().updateNotInstalled(version), (error as Error).message);

/** The installer kills what still runs, and the server must not end that way. */
async function install(updater: AppUpdater, version: string, needs: Needs): Promise<void> {
  // It may throw, on a full disk for example, so the server still runs.
  needs.rememberStart();
  // Without the server, the page could not save what the user stays for.
  if (!(await needs.closeWindow())) return needs.forgetStart();
  await needs.stopServer();
  let isRefused = false;
  const refuse = (error: unknown) => {
    if (isRefused) return;
    isRefused = true;
    needs.forgetStart();
    needs.openWindow();
    void needs.startServer();
    void sayNotInstalled(version, error);
  };
  updater.once('error', refuse);
  try {
    updater.quitAndInstall(true, true);
  } catch (error) {
    refuse(error);
  }
}

async function ask(message: string, detail: string, yes: string): Promise<boolean> {
  const { response } = await dialog.showMessageBox({
    type: 'question',
    message,
    detail,
    buttons: [yes, texts().later],
    defaultId: 0,
    cancelId: 1,
    noLink: true,
  });
  return response === 0;
}

/** @returns whether there was one */
async function offerUpdate(address: string, needs: Needs): Promise<boolean> {
  const { updateFound, updateAsk, updateByHand, download, updateReady, updateReadyAsk, installNow } = texts();
  const [found, updater] = await checkAt(address, needs);
  if (!found) return false;
  const { version } = found;
  if (!found.download) {
    await dialog.showMessageBox({
      type: 'info',
      message: updateFound(version),
      detail: updateByHand,
      noLink: true,
    });
    return true;
  }
  if (!(await ask(updateFound(version), updateAsk, download))) return true;
  try {
    await found.download();
    if (await ask(updateReady(version), updateReadyAsk, installNow)) await install(updater, version, needs);
  } catch (error) {
    // The user asked for it, even if the daily check found the version.
    await sayNotInstalled(version, error);
  }
  return true;
}

export function setUpUpdates(needs: Needs): Updates {
  const { address } = needs;
  let isOffering = false;

  /** One at a time: a second dialog would open over the first. @returns whether there was one */
  async function offer(from: string): Promise<boolean> {
    if (isOffering) return true;
    isOffering = true;
    try {
      return await offerUpdate(from, needs);
    } finally {
      isOffering = false;
    }
  }

  setInterval(() => {
    const from = address();
    // Only a check from the menu reports that it failed.
    if (from !== null && app.isPackaged) offer(from).catch(() => {});
  }, EVERY_MS).unref();

  return {
    leaveForLater() {
      if (loaded) loaded.autoInstallOnAppQuit = false;
    },
    async check() {
      const { updatesOff, updatesUnpackaged, upToDate, updateFailed } = texts();
      const from = address();
      if (from === null) return void (await say('info', updatesOff));
      if (!app.isPackaged) return void (await say('info', updatesUnpackaged));
      try {
        if (!(await offer(from))) await say('info', upToDate);
      } catch (error) {
        await say('error', updateFailed, (error as Error).message);
      }
    },
  };
}
