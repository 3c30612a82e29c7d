// The app's identity for the operating system, and where Chromium keeps its files.
import { mkdirSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { electronApp } from '@electron-toolkit/utils';
import { app } from 'electron';

/** The same as in electron-builder.yml: Windows groups windows and notifications by it. */
const APP_ID = 'app.licensedesk.desktop';
const PRODUCT_NAME = 'License Desk';

/** An unusable data directory is reported in a window, and that window needs a folder, too. */
function ownFolder(dataDirectory: string): string {
  const folder = join(dataDirectory, 'window');
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    return folder;
  } catch {
    return mkdtempSync(join(tmpdir(), 'license-desk-window-'));
  }
}

/**
 * Each data directory has its own folder for cookies and caches. The instance lock is tied to that folder, so apps on
 * two data directories can run side by side.
 */
export function setUpAppIdentity(dataDirectory: string): void {
  app.setName(PRODUCT_NAME);
  electronApp.setAppUserModelId(APP_ID);
  app.setPath('userData', ownFolder(dataDirectory));
}
