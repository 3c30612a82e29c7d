// The page may object to being left: it shows a secret once, or has changes that were not saved.
import { type BrowserWindow, dialog } from 'electron';
import { texts } from './texts.ts';

interface Needs {
  /** Whether the page is left without a question, because it has no say in this. */
  isUnasked(): boolean;
  /** Closes the window, as was wanted when the page objected. */
  close(): void;
  /** The user stays: nothing is closed, and the app does not quit. */
  onStay(): void;
}

async function askToLeave(window: BrowserWindow): Promise<boolean> {
  // From the tray, the app can be quit while the window is hidden.
  if (window.isMinimized()) window.restore();
  if (!window.isVisible()) window.show();
  const { leave, leaveDetail, leaveNow, stay } = texts();
  const { response } = await dialog.showMessageBox(window, {
    type: 'question',
    message: leave,
    detail: leaveDetail,
    buttons: [leaveNow, stay],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  return response === 0;
}

/**
 * Asks the user when the page objects. Until the answer the page stays, and after it the same is done again: a dialog
 * that waits inside the event would keep the end of a session from the app. Add it after other `close` listeners.
 */
export function askBeforeUnload(window: BrowserWindow, needs: Needs): void {
  let isAsking = false;
  let isClosing = false;
  let isAgreed = false;

  async function ask(): Promise<void> {
    isAsking = true;
    const leaves = await askToLeave(window);
    isAsking = false;
    // It was closed in the meantime, without an answer.
    if (window.isDestroyed()) return;
    isAgreed = leaves;
    const closes = isClosing;
    isClosing = false;
    if (!leaves) return needs.onStay();
    if (closes) return needs.close();
    window.webContents.once('did-finish-load', () => {
      isAgreed = false;
    });
    window.webContents.reload();
  }

  window.on('close', (event) => {
    isClosing = !event.defaultPrevented;
  });
  window.webContents.on('will-prevent-unload', (event) => {
    if (isAgreed || needs.isUnasked()) event.preventDefault();
    else if (!isAsking) void ask();
  });
}
