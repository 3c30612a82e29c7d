// Ends the app and starts it again.
import { spawn } from 'node:child_process';
import { app } from 'electron';

/** @param args the command line without the program, as this start may have more than it was given */
export function relaunch(args: string[]): void {
  const appImage = process.env['APPIMAGE'];
  if (appImage === undefined) app.relaunch({ args });
  else {
    // Electron would start the program from a mount that is gone by then.
    app.once('quit', () => {
      app.releaseSingleInstanceLock();
      const child = spawn(appImage, args, { detached: true, stdio: 'ignore' });
      child.on('error', () => {});
      child.unref();
    });
  }
  app.exit();
}
