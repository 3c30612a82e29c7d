// The one window. It shows the page that the server's admin listener serves.
import type { BrowserWindow } from 'electron';
import { createLockedWindow } from './locked-window.ts';
import { restartDelay, withFailure } from './restart-policy.ts';
import { askBeforeUnload } from './unload-question.ts';
import type { Quit } from './quit.ts';
import type { WindowState } from './window-state.ts';

export interface MainWindow {
  /** The server is ready: shows the page if a window is wanted. Port and session may be new after a restart. */
  open(address: string): void;
  /** Brings the window to the front, or opens it again. */
  focus(): void;
  /** Goes to a screen of the page. The screen is the part of the address after `#`. */
  showScreen(screen: string): void;
  /** Tells the page that a file is waiting. */
  tellFileOpened(): void;
  /** Closes it instead of hiding it, and does not end the app. @returns false if the page objects and the user stays */
  close(): Promise<boolean>;
  isOwnPage(address: string): boolean;
}

interface Needs {
  state: WindowState;
  /** Opens no window until it is asked for: at login and after an update. */
  startsHidden: boolean;
  /** Decides what closing the window does. Without a tray, a hidden window could not be found again. */
  onClose(): 'hide' | 'minimize' | 'close';
  /** Quits again after the page objected and its user agreed. */
  quit: Pick<Quit, 'isQuitting' | 'isBySystem' | 'byUser' | 'cancel'>;
  /** The window was hidden or minimized instead of being closed. */
  onKept(): void;
  /** The window is about to be shown. */
  onShow(): void;
  /** The window is closed, not only hidden. */
  onClosed(): void;
  /** Makes the server announce itself, which opens the window. */
  requestSignIn(): void;
}

/** The fragment holds the screen and its filters, which a restart of the server must not lose. */
function keepFragment(address: string, shown: string): string {
  const next = new URL(address);
  if (URL.canParse(shown)) next.hash = new URL(shown).hash;
  return next.href;
}

/** macOS leaves an empty black Space where a window in full screen is hidden (electron/electron#39572). */
function hide(window: BrowserWindow): void {
  if (!window.isFullScreen()) {
    window.hide();
    return;
  }
  window.once('leave-full-screen', () => window.hide());
  window.setFullScreen(false);
}

export function setUpMainWindow(needs: Needs): MainWindow {
  let window: BrowserWindow | null = null;
  let home: URL | null = null;
  let isWanted = !needs.startsHidden;
  let wantedScreen: string | null = null;
  let loading = 0;
  let crashes: number[] = [];
  /** Settles `close`. */
  let settleClose: ((isClosed: boolean) => void) | null = null;

  function create(): BrowserWindow {
    const made = createLockedWindow('preload.cjs', {
      ...needs.state.options(),
      minWidth: 900,
      minHeight: 600,
      beforeShow: needs.state.restore,
    });
    needs.state.follow(made);
    made.on('show', needs.onShow);
    made.on('close', (event) => {
      const action = settleClose ? 'close' : needs.onClose();
      if (action === 'close') return;
      event.preventDefault();
      if (action === 'hide') hide(made);
      else made.minimize();
      needs.onKept();
    });
    askBeforeUnload(made, {
      isUnasked: () => loading > 0 || needs.quit.isBySystem(),
      close: () => (needs.quit.isQuitting() ? needs.quit.byUser() : made.close()),
      onStay() {
        needs.quit.cancel();
        settle(false);
      },
    });
    made.webContents.on('render-process-gone', () => recover(made));
    made.once('closed', () => {
      window = null;
      isWanted = false;
      // Quitting is not what `close` was for.
      if (!settle(!needs.quit.isQuitting())) needs.onClosed();
    });
    return made;
  }

  /** The page's process has crashed, which leaves the window empty. Electron may not load in the event itself. */
  function recover(crashed: BrowserWindow): void {
    crashes = withFailure(crashes, Date.now());
    const delay = restartDelay(crashes.length);
    if (delay === null) return;
    setTimeout(() => {
      if (!crashed.isDestroyed()) crashed.webContents.reload();
    }, delay);
  }

  /** @returns whether `close` was waiting */
  function settle(isClosed: boolean): boolean {
    const waiting = settleClose;
    settleClose = null;
    waiting?.(isClosed);
    return waiting !== null;
  }

  function load(address: string): void {
    window ??= create();
    // A server that died in the meantime becomes ready again, and that loads the page.
    loading += 1;
    void window
      .loadURL(address)
      .catch(() => {})
      .finally(() => {
        loading -= 1;
      });
  }

  function focus(): void {
    isWanted = true;
    if (!window) {
      needs.requestSignIn();
      return;
    }
    // The page has crashed too often to be loaded by itself.
    if (window.webContents.isCrashed()) needs.requestSignIn();
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
  }

  return {
    open(address) {
      home = new URL(address);
      if (!isWanted) return;
      const next = keepFragment(address, window?.webContents.getURL() ?? '');
      const target = new URL(next);
      if (wantedScreen !== null) target.hash = wantedScreen;
      wantedScreen = null;
      load(target.href);
    },
    focus,
    showScreen(screen) {
      const isThere = window !== null;
      if (isThere && home) load(`${home.origin}/#${screen}`);
      else wantedScreen = screen;
      focus();
    },
    tellFileOpened() {
      window?.webContents.send('fileOpened');
      focus();
    },
    async close() {
      const closing = window;
      if (!closing) return true;
      return new Promise((resolve) => {
        settleClose = resolve;
        closing.close();
      });
    },
    isOwnPage: (address) => home !== null && URL.canParse(address) && new URL(address).origin === home.origin,
  };
}
