// The shell's end of its bridges. Each call is answered only to the page that it is meant for.
import { app, BrowserWindow, ipcMain, type WebContents } from 'electron';
import type { BridgeCalls } from './bridge.ts';
import type { OpenedFiles } from './opened-files.ts';
import { savePdf } from './pdf.ts';
import type { PreferenceStore } from './preferences.ts';
import { saveText } from './save-as.ts';
import type { ShellAnswer, ShellBridge } from './shell-bridge.ts';
import type { ShellWindow } from './shell-window.ts';

/** Handlers check their arguments, because types end at the process boundary. */
type Handlers<Calls> = {
  [Name in keyof Calls]: Calls[Name] extends (...args: never[]) => infer Reply
    ? (sender: WebContents, argument: unknown) => Reply
    : never;
};

function answer<Calls extends object>(
  handlers: Handlers<Calls>,
  isOwnPage: (address: string) => boolean,
): void {
  for (const [name, handler] of Object.entries(handlers)) {
    ipcMain.handle(name, (event, argument: unknown) => {
      if (!isOwnPage(event.senderFrame?.url ?? '')) throw new Error('the bridge answers its own page only');
      return (handler as (sender: WebContents, argument: unknown) => unknown)(event.sender, argument);
    });
  }
}

interface Needs {
  /** Whether the address belongs to the page of our own server. */
  isOwnPage(address: string): boolean;
  requestSignIn(): void;
  files: Pick<OpenedFiles, 'take'>;
  preferences: PreferenceStore;
}

export function setUpBridge({ isOwnPage, requestSignIn, files, preferences }: Needs): void {
  const handlers = {
    appInfo: async () => ({ version: app.getVersion(), electron: process.versions['electron'] ?? '' }),
    signIn: async () => requestSignIn(),
    takeOpenedFile: async () => files.take(),
    savePdf: (sender, name) =>
      savePdf(sender, BrowserWindow.fromWebContents(sender), typeof name === 'string' ? name : ''),
    saveText: (sender, file) => saveText(BrowserWindow.fromWebContents(sender), file),
    readPreferences: async () => preferences.read(),
    changePreferences: async (_sender, change) => preferences.change(change),
  } satisfies Handlers<BridgeCalls>;
  answer<BridgeCalls>(handlers, isOwnPage);
}

export function setUpShellBridge(window: ShellWindow): void {
  const handlers = {
    shellView: async () => window.currentView(),
    shellAnswer: async (_sender, given) => window.answer(given as ShellAnswer),
  } satisfies Handlers<ShellBridge>;
  answer<ShellBridge>(handlers, window.isOwnPage);
}
