// Saves downloads of the page where the administrator chooses, in the system's own dialog.
import { extname, join } from 'node:path';
import { app, BrowserWindow, dialog, session } from 'electron';
import { texts } from './texts.ts';

const NO_PROGRESS = -1;
const INDETERMINATE = 2;

export function setUpDownloads(): void {
  session.defaultSession.on('will-download', (_event, item, contents) => {
    const name = item.getFilename();
    const extension = extname(name).slice(1);
    item.setSaveDialogOptions({
      defaultPath: join(app.getPath('documents'), name),
      ...(extension ? { filters: [{ name: extension.toUpperCase(), extensions: [extension] }] } : {}),
    });
    const window = BrowserWindow.fromWebContents(contents);
    // A download continues when its window is closed.
    const showProgress = (progress: number) => {
      if (window && !window.isDestroyed()) window.setProgressBar(progress);
    };
    item.on('updated', () => {
      const total = item.getTotalBytes();
      // An export is streamed, so its length is unknown.
      showProgress(total > 0 ? item.getReceivedBytes() / total : INDETERMINATE);
    });
    item.once('done', (_done, state) => {
      showProgress(NO_PROGRESS);
      if (state === 'interrupted') dialog.showErrorBox(texts().cannotSave(name), texts().interrupted);
    });
  });
}
