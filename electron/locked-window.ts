// How every window of the app is made: its page gets a preload script and nothing else of Electron or Node.
import { join } from 'node:path';
import { BrowserWindow, type BrowserWindowConstructorOptions } from 'electron';

/**
 * @param preload its name in the build
 * @returns shows itself as soon as there is something to show
 */
export function createLockedWindow(
  preload: string,
  options: Omit<BrowserWindowConstructorOptions, 'webPreferences'>,
): BrowserWindow {
  const window = new BrowserWindow({
    title: 'License Desk',
    show: false,
    ...options,
    webPreferences: {
      preload: join(import.meta.dirname, '../preload', preload),
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
      spellcheck: false,
    },
  });
  window.once('ready-to-show', () => window.show());
  return window;
}
