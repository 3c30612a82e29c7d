// Said the first time that closing the window leaves the service running: nobody should have to find that out.
import { join } from 'node:path';
import { app, Notification } from 'electron';
import { readJsonFile, writeJsonFile } from './json-file.ts';
import { texts } from './texts.ts';

export function sayOnceThatItRuns(): void {
  const path = join(app.getPath('userData'), 'told.json');
  if (readJsonFile(path)['kept_in_tray'] === true || !Notification.isSupported()) return;
  const { keptInTray, keptInTrayBody } = texts();
  new Notification({ title: keptInTray, body: keptInTrayBody }).show();
  try {
    writeJsonFile(path, { kept_in_tray: true });
  } catch {
    // Then it is said once more.
  }
}
