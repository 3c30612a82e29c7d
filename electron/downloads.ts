// What the page hands out goes where the administrator says, through the system's own dialog.
import { extname, join } from 'node:path';
import { app, BrowserWindow, dialog, session } from 'electron';
import { texts } from './texts.ts';

const NO_PROGRESS = -1;

export function setUpDownloads(): void {
  session.defaultSession.on('will-download', (_event, item, contents) => {
    const name = item.getFilename();
    const extension = extname(name).slice(1);
    item.setSaveDialogOptions({
      defaultPath: join(app.getPath('documents'), name),
      ...(extension ? { filters: [{ name: extension.toUpperCase(), extensions: [extension] }] } : {}),
    });
    const window = BrowserWindow.fromWebContents(contents);
    item.on('updated', () => {
      const total = item.getTotalBytes();
      // An export is made while it is sent: nobody knows how long it will be.
      window?.setProgressBar(total > 0 ? item.getReceivedBytes() / total : 2);
    });
    item.once('done', (_done, state) => {
      if (window && !window.isDestroyed()) window.setProgressBar(NO_PROGRESS);
      if (state === 'interrupted') dialog.showErrorBox(texts().cannotSave(name), texts().interrupted);
    });
  });
}
