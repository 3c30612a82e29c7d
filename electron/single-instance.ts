// One app per data directory; starting it again brings the running one to the front, with the file it was started with.
import { app } from 'electron';

/** @returns false for the second one, which has to leave */
export function setUpSingleInstance(
  onStartedAgain: (argv: readonly string[], workingDirectory: string) => void,
): boolean {
  if (!app.requestSingleInstanceLock()) return false;
  app.on('second-instance', (_event, argv, workingDirectory) => onStartedAgain(argv, workingDirectory));
  app.on('activate', () => onStartedAgain([], process.cwd()));
  return true;
}
