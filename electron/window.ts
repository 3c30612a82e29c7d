// The one window, on the page that the server's admin listener serves.
import { join } from 'node:path';
import { BrowserWindow } from 'electron';

export interface MainWindow {
  /** Opens the window on this address, or moves the open one there: after a restart port and session may be new. */
  open(address: string): void;
  /** Brings the window to the front, and back if it was closed. */
  focus(): void;
  isOwnPage(address: string): boolean;
}

function create(): BrowserWindow {
  const window = new BrowserWindow({
    title: 'License Desk',
    width: 1440,
    height: 900,
    minWidth: 900,
    minHeight: 600,
    show: false,
    webPreferences: {
      preload: join(import.meta.dirname, '../preload/preload.cjs'),
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

/** The fragment says which list and which filters are shown; a restart of the server must not lose them. */
function keepFragment(address: string, shown: string): string {
  const next = new URL(address);
  if (URL.canParse(shown)) next.hash = new URL(shown).hash;
  return next.href;
}

export function setUpMainWindow(): MainWindow {
  let window: BrowserWindow | null = null;
  let home: URL | null = null;

  function load(address: string): void {
    if (!window) {
      window = create();
      window.once('closed', () => {
        window = null;
      });
    }
    // A server that died meanwhile becomes ready again, and that loads the page.
    window.loadURL(address).catch(() => {});
  }

  return {
    open(address) {
      home = new URL(address);
      load(window ? keepFragment(address, window.webContents.getURL()) : address);
    },
    focus() {
      if (window?.isMinimized()) window.restore();
      if (window) window.focus();
      // Without the code, which worked once: the cookie still does.
      else if (home) load(`${home.origin}/`);
    },
    isOwnPage: (address) => home !== null && URL.canParse(address) && new URL(address).origin === home.origin,
  };
}
