// Leaving: the window goes first, then the server gets its time to finish what is under way.
import { app, powerMonitor } from 'electron';
import type { ServerProcess } from './server-process.ts';

export interface Quit {
  /** From the moment on that the app is told to end. */
  isQuitting(): boolean;
}

export function setUpQuit(server: ServerProcess): Quit {
  let isQuitting = false;
  let stopped = false;
  app.on('before-quit', () => {
    isQuitting = true;
  });
  // The computer is shut down.
  powerMonitor.on('shutdown', () => app.quit());
  app.on('will-quit', (event) => {
    if (stopped) return;
    event.preventDefault();
    void server.stop().finally(() => {
      stopped = true;
      app.quit();
    });
  });
  return { isQuitting: () => isQuitting };
}
