// Explains once, when the window is first closed, that the server keeps running.
import { join } from 'node:path';
import { app, Notification } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { texts } from './texts.ts';

/** @param isInTray false where the window was minimized instead */
export function showStillRunningNotice(isInTray: boolean): void {
  const path = join(app.getPath('userData'), 'told.json');
  if (readJsonFile(path)['kept_in_tray'] === true || !Notification.isSupported()) return;
  const { stillRunning, stillRunningInTray, stillRunningMinimized } = texts();
  const body = isInTray ? stillRunningInTray : stillRunningMinimized;
  new Notification({ title: stillRunning, body }).show();
  try {
    writeJsonFile(path, { kept_in_tray: true });
  } catch {
    // The explanation is shown again next time.
  }
}
