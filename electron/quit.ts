// Quits the app: first the window closes, then the server gets time to finish.
import { app, autoUpdater, BrowserWindow, powerMonitor } from 'electron';
import type { ServerProcess } from './server-process.ts';

export interface Quit {
  /** True after the app was told to quit. */
  isQuitting(): boolean;
  /** Quits as the user chose, so the page may object. Installers and the end of a session do not ask it. */
  byUser(): void;
  /** The page objects to being left. @param ask for the user's decision @returns whether it is left all the same */
  mayLeave(ask: () => boolean): boolean;
}

/**
 * The session ends only after the server has stopped, because the event is prevented first: Linux and macOS wait for
 * an app that prevents it, and end one that does not.
 */
function quitWithSession(): void {
  const quitFirst = (event: { preventDefault(): void }) => {
    event.preventDefault();
    app.quit();
  };
  if (process.platform !== 'win32') {
    // Electron's types do not declare the event that it passes.
    (powerMonitor as NodeJS.EventEmitter).on('shutdown', quitFirst);
    return;
  }
  // Windows sends it to windows only, and the app may have none open.
  const listener = new BrowserWindow({
    show: false,
    focusable: false,
    skipTaskbar: true,
    width: 1,
    height: 1,
  });
  listener.on('query-session-end', quitFirst);
  listener.on('session-end', () => app.quit());
}

export function setUpQuit(server: ServerProcess): Quit {
  let isQuitting = false;
  let isByUser = false;
  let stopped = false;
  const begin = () => {
    isQuitting = true;
  };
  app.on('before-quit', begin);
  // To install an update, macOS closes the windows before it quits the app.
  autoUpdater.on('before-quit-for-update', begin);
  autoUpdater.on('error', () => {
    isQuitting = false;
  });
  quitWithSession();
  app.on('will-quit', (event) => {
    if (stopped) return;
    event.preventDefault();
    void server.stop().finally(() => {
      stopped = true;
      app.quit();
    });
  });
  return {
    isQuitting: () => isQuitting,
    byUser() {
      isByUser = true;
      app.quit();
    },
    mayLeave(ask) {
      if ((isQuitting && !isByUser) || ask()) return true;
      // A window that stays open keeps the app from quitting.
      isQuitting = false;
      isByUser = false;
      return false;
    },
  };
}
