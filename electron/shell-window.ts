// The shell's own small window for when there is no page: start failures and passphrases.
import type { BrowserWindow } from 'electron';
import { createLockedWindow } from './locked-window.ts';
import type { ShellAnswer, ShellView } from './shell-bridge.ts';
import { SHELL_PAGE } from './shell-protocol.ts';

export interface ShellWindow {
  /** Shows the screen and waits for the answer. @returns null if the window was closed */
  ask(view: ShellView): Promise<ShellAnswer | null>;
  /** Shows the screen without a question. */
  show(view: ShellView): void;
  /** A question that still waits is dropped: it gets no answer. */
  close(): void;
  /** Brings the window to the front. @returns false if it is not open */
  focus(): boolean;
  isOwnPage(address: string): boolean;
  currentView(): ShellView | null;
  answer(answer: ShellAnswer): void;
}

/** @param onShow called when the window appears */
export function setUpShellWindow(onShow: () => void): ShellWindow {
  let window: BrowserWindow | null = null;
  let current: ShellView | null = null;
  let settle: ((answer: ShellAnswer | null) => void) | null = null;

  function settleWith(answer: ShellAnswer | null): void {
    const waiting = settle;
    settle = null;
    waiting?.(answer);
  }

  function forget(): void {
    window = null;
    current = null;
  }

  function show(view: ShellView): void {
    current = view;
    if (window) {
      window.webContents.send('shellChange');
      return;
    }
    const made = createLockedWindow('shell-preload.cjs', { width: 720, height: 560, autoHideMenuBar: true });
    window = made;
    made.on('show', onShow);
    made.once('closed', () => {
      if (window !== made) return;
      forget();
      settleWith(null);
    });
    made.loadURL(SHELL_PAGE).catch(() => {});
  }

  return {
    ask(view) {
      settleWith(null);
      show(view);
      return new Promise((resolve) => {
        settle = resolve;
      });
    },
    show,
    close() {
      const closing = window;
      // It is gone only later. What is shown until then needs a new one.
      forget();
      settle = null;
      closing?.close();
    },
    focus() {
      window?.show();
      window?.focus();
      return window !== null;
    },
    isOwnPage: (address) => address === SHELL_PAGE,
    currentView: () => current,
    answer: settleWith,
  };
}
