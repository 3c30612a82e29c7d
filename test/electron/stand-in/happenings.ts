// What the stand-in and a test tell each other.

export interface MenuEntry {
  id: string;
  label: string;
  enabled: boolean;
  checked: boolean;
}

/** What the shell did. */
export type ShellEvent =
  | { event: 'window'; id: number; options: Record<string, unknown>; webPreferences: Record<string, unknown> }
  | { event: 'load'; id: number; url: string }
  | { event: 'shown' | 'focused' | 'hidden' | 'closed' | 'maximized' | 'minimized'; id: number }
  | { event: 'full-screen'; id: number; isOn: boolean }
  /** macOS: a window that is hidden while in full screen leaves an empty Space. */
  | { event: 'black-space'; id: number }
  | { event: 'progress'; id: number; value: number }
  /** Times are epoch milliseconds. */
  | { event: 'registered'; at: number }
  | { event: 'forked'; pid: number; args: string[]; key: string | null; at: number }
  | { event: 'message-box'; message: string; detail: string; buttons: string[] }
  | { event: 'error-box'; title: string; content: string }
  | { event: 'file-dialog'; kind: 'open' | 'save'; defaultPath: string; extensions: string[] }
  | { event: 'path'; name: string; path: string }
  | { event: 'menu'; items: MenuEntry[] }
  | { event: 'popup'; items: MenuEntry[]; x: number | undefined; y: number | undefined }
  | { event: 'tray'; icon: string; title: string; tooltip: string; items: MenuEntry[] }
  | { event: 'notification'; title: string; body: string }
  | { event: 'opened'; what: string }
  | { event: 'copied'; text: string }
  | { event: 'sent'; id: number; channel: string }
  | { event: 'posted'; type: string }
  | { event: 'download'; defaultPath: string; state: string }
  | { event: 'login-item'; openAtLogin: boolean; command: string }
  | { event: 'dock'; isVisible: boolean }
  | { event: 'kept-awake'; isOn: boolean }
  | { event: 'relaunch'; args: string[] }
  /** What electron-updater was told to do, and whether the server was still running then. */
  | { event: 'update'; step: 'download' | 'install'; silent: boolean; relaunch: boolean; serverRuns: boolean }
  | { event: 'answer'; to: number; value: unknown };

/** What happens to the shell; each is answered with `answer`. */
export type Happening =
  | { do: 'navigate'; from: 'will-navigate' | 'will-frame-navigate' | 'will-redirect'; url: string }
  | { do: 'open-window'; url: string }
  | { do: 'attach-webview' }
  | { do: 'ask-permission'; permission: string; origin: string }
  /** `window`: the nth that was made; without it, the first that has a bridge. A null sender: a frame that is gone. */
  | { do: 'call-bridge'; window?: number; method: string; arguments?: unknown[]; senderUrl: string | null }
  | { do: 'second-instance'; argv: string[] }
  | { do: 'open-file'; path: string }
  | { do: 'close-window' | 'enter-full-screen' }
  | { do: 'move-window'; x: number; y: number; width: number; height: number; maximized?: boolean }
  | { do: 'press-button'; button: number }
  /** From here on, the page objects to being left. */
  | { do: 'guard-page' }
  | { do: 'reload-page' | 'crash-page' }
  /** macOS: by the menu of the Dock, and in the same way by Cmd+Q in the app switcher. */
  | { do: 'quit-from-dock' }
  /** In the dialog that is open; null: cancelled. */
  | { do: 'choose-path'; path: string | null }
  | { do: 'click-menu' | 'click-tray'; id: string }
  | { do: 'click-tray-icon' }
  /** A right-click on a field, on selected text, or on neither; `can`: what may be done there. */
  | { do: 'right-click'; isEditable: boolean; selectionText: string; can: string[] }
  /** Windows: the toast goes to the Action Center, and its object hears no more of it. */
  | { do: 'time-out-notification' | 'click-notification'; number: number }
  /** A download that is under way while these happen, in this order. */
  | { do: 'download'; steps: ('updated' | 'destroy-window' | 'done')[] }
  | { do: 'resume' }
  /** As this platform announces it. Answered if the shell asked for time, or there is nothing to ask. */
  | { do: 'end-session' }
  | { do: 'app-image-renamed'; path: string }
  | { do: 'reject-promise' };

export const report = (event: ShellEvent): void => void process.send?.(event);
