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

  function show(view: ShellView): void {
    current = view;
    if (window) {
      window.webContents.send('shellChange');
      return;
    }
    window = createLockedWindow('shell-preload.cjs', { width: 720, height: 560, autoHideMenuBar: true });
    window.on('show', onShow);
    window.once('closed', () => {
      window = null;
      current = null;
      settleWith(null);
    });
    window.loadURL(SHELL_PAGE).catch(() => {});
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
    close: () => window?.close(),
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
