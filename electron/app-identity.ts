// Who the app is to the operating system, and where Chromium keeps its files.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { electronApp } from '@electron-toolkit/utils';
import { app } from 'electron';

/** The same as in electron-builder.yml: Windows groups windows and notifications by it. */
const APP_ID = 'app.licensedesk.desktop';
const PRODUCT_NAME = 'License Desk';

/**
 * Cookies and caches live in a folder of their own, one per data directory: the instance lock is tied to that
 * folder, so apps on two data directories can run side by side.
 */
export function setUpAppIdentity(dataDirectory: string | undefined): void {
  app.setName(PRODUCT_NAME);
  electronApp.setAppUserModelId(APP_ID);
  const home = dataDirectory ? resolve(dataDirectory) : join(app.getPath('appData'), PRODUCT_NAME);
  const folder = join(home, 'window');
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  app.setPath('userData', folder);
}
