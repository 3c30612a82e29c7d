// The shell's end of the bridge.
import { app, ipcMain } from 'electron';
import type { Bridge } from './bridge.ts';

interface Needs {
  /** Whether an address belongs to the page of our own server; nobody else gets an answer. */
  isOwnPage(address: string): boolean;
  requestSignIn(): void;
}

export function setUpBridge({ isOwnPage, requestSignIn }: Needs): void {
  const handlers = {
    appInfo: async () => ({ version: app.getVersion(), electron: process.versions['electron'] ?? '' }),
    signIn: async () => requestSignIn(),
  } satisfies Bridge;

  for (const [name, handler] of Object.entries(handlers)) {
    ipcMain.handle(name, (event) => {
      if (!isOwnPage(event.senderFrame?.url ?? '')) throw new Error('the bridge answers its own page only');
      return handler();
    });
  }
}
