// The page may object to being left: it shows a secret once, or has changes that were not saved.
import { type BrowserWindow, dialog } from 'electron';
import { texts } from './texts.ts';

/** The event that it answers does not wait. @returns whether the page may be left */
export function askToLeave(window: BrowserWindow): boolean {
  // From the tray, the app can be quit while the window is hidden.
  if (window.isMinimized()) window.restore();
  if (!window.isVisible()) window.show();
  const { leave, leaveDetail, leaveNow, stay } = texts();
  const answer = dialog.showMessageBoxSync(window, {
    type: 'question',
    message: leave,
    detail: leaveDetail,
    buttons: [leaveNow, stay],
    defaultId: 1,
    cancelId: 1,
    noLink: true,
  });
  return answer === 0;
}
