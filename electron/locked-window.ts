// How every window of the app is made: its page gets a preload script and nothing else of Electron or Node.
import { join } from 'node:path';
import { BrowserWindow, type BrowserWindowConstructorOptions, nativeTheme } from 'electron';
import { setUpTextMenu } from './text-menu.ts';

/** A page that loads more slowly is shown as it is. */
const REVEAL_AFTER_MS = 3000;
/** The page's background color, so that nothing flashes before the first paint. */
const BACKGROUND = { light: '#f4f5f7', dark: '#14171c' };

interface LockedWindowOptions extends Omit<BrowserWindowConstructorOptions, 'webPreferences'> {
  /** Called once, immediately before the window is shown. */
  beforeShow?(window: BrowserWindow): void;
}

/**
 * On Wayland a hidden window never emits `ready-to-show` (electron/electron#48859), so the first of three signs shows it.
 */
function revealOnce(window: BrowserWindow, beforeShow: (window: BrowserWindow) => void): void {
  let isRevealed = false;
  const reveal = () => {
    clearTimeout(timer);
    if (isRevealed || window.isDestroyed()) return;
    isRevealed = true;
    beforeShow(window);
    window.show();
  };
  const timer = setTimeout(reveal, REVEAL_AFTER_MS);
  window.once('ready-to-show', reveal);
  window.once('closed', () => clearTimeout(timer));
  if (process.platform === 'linux') window.webContents.once('did-finish-load', reveal);
}

/**
 * @param preload its file name in the build
 * @returns a window that shows itself when it has something to show
 */
export function createLockedWindow(
  preload: string,
  { beforeShow = () => {}, ...options }: LockedWindowOptions,
): BrowserWindow {
  const window = new BrowserWindow({
    title: 'License Desk',
    show: false,
    backgroundColor: nativeTheme.shouldUseDarkColors ? BACKGROUND.dark : BACKGROUND.light,
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
  setUpTextMenu(window);
  revealOnce(window, beforeShow);
  return window;
}
