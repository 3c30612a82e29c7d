// Newer versions, from an address of the administrator's own such as a share on the LAN; off unless one is set.
import { app, dialog } from 'electron';
import { texts } from './texts.ts';

const EVERY_MS = 24 * 60 * 60 * 1000;

interface Needs {
  /** Null: nowhere. */
  address(): string | null;
}

export interface Updates {
  /** For the menu: says also that there is nothing. */
  look(): Promise<void>;
}

/** Loaded only where somebody wants it: most installations never do. */
async function openUpdater(address: string) {
  const { default: updater } = await import('electron-updater');
  const { autoUpdater } = updater;
  autoUpdater.setFeedURL({ provider: 'generic', url: address });
  autoUpdater.autoDownload = false;
  autoUpdater.autoInstallOnAppQuit = true;
  return autoUpdater;
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
async function offerUpdate(address: string): Promise<boolean> {
  const { updateFound, updateAsk, download, updateReady, updateReadyAsk, quitNow } = texts();
  const updater = await openUpdater(address);
  const found = await updater.checkForUpdates();
  if (!found?.isUpdateAvailable) return false;
  const { version } = found.updateInfo;
  if (!(await ask(updateFound(version), updateAsk, download))) return true;
  await updater.downloadUpdate();
  if (await ask(updateReady(version), updateReadyAsk, quitNow)) app.quit();
  return true;
}

export function setUpUpdates({ address }: Needs): Updates {
  const say = (type: 'info' | 'error', message: string, detail = '') =>
    dialog.showMessageBox({ type, message, detail, noLink: true });

  setInterval(() => {
    const from = address();
    // Nobody asked: what fails now is said when somebody does.
    if (from !== null && app.isPackaged) offerUpdate(from).catch(() => {});
  }, EVERY_MS).unref();

  return {
    async look() {
      const { updatesOff, updatesUnpackaged, upToDate, updateFailed } = texts();
      const from = address();
      if (from === null) return void (await say('info', updatesOff));
      if (!app.isPackaged) return void (await say('info', updatesUnpackaged));
      try {
        if (!(await offerUpdate(from))) await say('info', upToDate);
      } catch (error) {
        await say('error', updateFailed, (error as Error).message);
      }
    },
  };
}
