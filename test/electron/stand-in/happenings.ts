// What the stand-in and a test tell each other.

export interface MenuEntry {
  id: string;
  label: string;
  enabled: boolean;
}

/** What the shell did. */
export type ShellEvent =
  | { event: 'window'; id: number; options: Record<string, unknown>; webPreferences: Record<string, unknown> }
  | { event: 'load'; id: number; url: string }
  | { event: 'shown' | 'focused' | 'hidden' | 'closed' | 'maximized'; id: number }
  /** Times are epoch milliseconds. */
  | { event: 'registered'; at: number }
  | { event: 'forked'; pid: number; args: string[]; key: string | null; at: number }
  | { event: 'message-box'; message: string; detail: string; buttons: string[] }
  | { event: 'error-box'; title: string; content: string }
  | { event: 'file-dialog'; kind: 'open' | 'save'; defaultPath: string; extensions: string[] }
  | { event: 'path'; name: string; path: string }
  | { event: 'menu'; items: MenuEntry[] }
  | { event: 'tray'; icon: string; tooltip: string; items: MenuEntry[] }
  | { event: 'notification'; title: string; body: string }
  | { event: 'opened'; what: string }
  | { event: 'copied'; text: string }
  | { event: 'sent'; id: number; channel: string }
  | { event: 'posted'; type: string }
  | { event: 'download'; defaultPath: string; state: string }
  | { event: 'answer'; to: number; value: unknown };

/** What happens to the shell; each is answered with `answer`. */
export type Happening =
  | { do: 'navigate'; from: 'will-navigate' | 'will-frame-navigate' | 'will-redirect'; url: string }
  | { do: 'open-window'; url: string }
  | { do: 'attach-webview' }
  | { do: 'ask-permission'; permission: string; origin: string }
  /** `window`: the nth that was made; its own preload script is what calls. */
  | { do: 'call-bridge'; window?: number; method: string; arguments?: unknown[]; senderUrl: string }
  | { do: 'second-instance'; argv: string[] }
  | { do: 'open-file'; path: string }
  | { do: 'close-window' }
  | { do: 'move-window'; x: number; y: number; width: number; height: number }
  | { do: 'press-button'; button: number }
  /** In the dialog that is open; null: cancelled. */
  | { do: 'choose-path'; path: string | null }
  | { do: 'click-menu' | 'click-tray'; id: string }
  | { do: 'click-notification'; number: number }
  | { do: 'resume' | 'shutdown' };

export const report = (event: ShellEvent): void => void process.send?.(event);
