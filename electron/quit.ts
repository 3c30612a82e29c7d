// Quits the app: first the window closes, then the server gets time to finish.
import { app, autoUpdater, BrowserWindow, powerMonitor } from 'electron';
import type { ServerProcess } from './server-process.ts';

export interface Quit {
  /** True after the app was told to quit. */
  isQuitting(): boolean;
  /** Quits as the user chose, so the page may object. */
  byUser(): void;
  /** Quits without asking the page: for an installer. */
  bySystem(): void;
  /** Whether the page has no say: an installer, a signal or the end of the session quits the app. */
  isBySystem(): boolean;
  /** The page objected, and the user stays. */
  cancel(): void;
}

/**
 * The session ends only after the server has stopped, because the event is prevented first: Linux and macOS wait for
 * an app that prevents it, and end one that does not.
 */
function quitWithSession(quit: () => void): void {
  const quitFirst = (event: { preventDefault(): void }) => {
    event.preventDefault();
    quit();
  };
  if (process.platform !== 'win32') {
    // Electron's types do not declare the event that it passes.
    (powerMonitor as NodeJS.EventEmitter).on('shutdown', quitFirst);
    return;
  }
  // Windows sends it to windows only: to all of them, because any may be closed while the page objects to quitting.
  const listen = (window: BrowserWindow) => {
    window.on('query-session-end', quitFirst);
    window.on('session-end', quit);
  };
  // The app may have no other window.
  listen(new BrowserWindow({ show: false, focusable: false, skipTaskbar: true, width: 1, height: 1 }));
  app.on('browser-window-created', (_event, window) => listen(window));
}

interface Needs {
  server: Pick<ServerProcess, 'stop'>;
  /** The app quits without its user: nothing may start that the end of the session would kill. */
  onBySystem(): void;
}

export function setUpQuit({ server, onBySystem }: Needs): Quit {
  const isMac = process.platform === 'darwin';
  let by: 'user' | 'system' | null = null;
  let isAskedByUser = false;
  let stopped = false;
  const bySystem = () => {
    by = 'system';
    onBySystem();
    app.quit();
  };
  app.on('before-quit', () => {
    // The Dock and the app switcher of macOS only announce themselves here. Elsewhere, a signal does.
    if (by !== 'system') by = isAskedByUser || isMac ? 'user' : 'system';
  });
  // Electron would quit, too, and could not be told from the Dock.
  if (isMac) for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, bySystem);
  // To install an update, macOS closes the windows before it quits the app.
  autoUpdater.on('before-quit-for-update', () => {
    by = 'system';
  });
  autoUpdater.on('error', () => {
    by = null;
  });
  quitWithSession(bySystem);
  app.on('will-quit', (event) => {
    if (stopped) return;
    event.preventDefault();
    void server.stop().finally(() => {
      stopped = true;
      app.quit();
    });
  });
  return {
    isQuitting: () => by !== null,
    byUser() {
      isAskedByUser = true;
      app.quit();
      isAskedByUser = false;
    },
    bySystem,
    isBySystem: () => by === 'system',
    cancel() {
      // The end of the session closes the question as well.
      if (by !== 'system') by = null;
    },
  };
}
