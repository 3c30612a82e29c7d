// Newer versions, from an address of the administrator's own such as a share on the LAN; off unless one is set.
import { join } from 'node:path';
import { app, dialog } from 'electron';
import type { FoundUpdate } from './signed-updates.ts';
import { texts } from './texts.ts';
import { pinnedUpdateKey } from './update-key.ts';

const EVERY_MS = 24 * 60 * 60 * 1000;

interface Needs {
  /** Null: nowhere. */
  address(): string | null;
}

export interface Updates {
  /** For the menu: says also that there is nothing. */
  look(): Promise<void>;
}

/** Loaded on first use: most installations never look for updates. */
async function lookAt(address: string): Promise<FoundUpdate | null> {
  const [{ default: updater }, { findUpdate }] = await Promise.all([
    import('electron-updater'),
    import('./signed-updates.ts'),
  ]);
  const { autoUpdater } = updater;
  // A redirect must not lead away from https.
  autoUpdater.netSession.webRequest.onBeforeRequest({ urls: ['http://*/*'] }, (_request, answer) =>
    answer({ cancel: true }),
  );
  return findUpdate(autoUpdater, {
    address,
    publicKey: pinnedUpdateKey(),
    historyFile: join(app.getPath('userData'), 'updates.json'),
  });
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
  const { updateFound, updateAsk, updateByHand, download, updateReady, updateReadyAsk, quitNow } = texts();
  const found = await lookAt(address);
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
  await found.download();
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
