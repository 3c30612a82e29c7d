// Leaving: the window goes first, then the server gets its time to finish what is under way.
import { app } from 'electron';
import type { ServerProcess } from './server-process.ts';

export function setUpQuit(server: ServerProcess): void {
  let stopped = false;
  app.on('window-all-closed', () => {
    if (process.platform !== 'darwin') app.quit();
  });
  app.on('will-quit', (event) => {
    if (stopped) return;
    event.preventDefault();
    void server.stop().finally(() => {
      stopped = true;
      app.quit();
    });
  });
}
