// One app per data directory; starting it again brings the running one to the front, with the file it was started with.
import { app } from 'electron';

/**
 * @param onStartedAgain called once the app is ready
 * @returns false for the second one, which has to leave
 */
export function setUpSingleInstance(
  onStartedAgain: (argv: readonly string[], workingDirectory: string) => void,
): boolean {
  if (!app.requestSingleInstanceLock()) return false;
  const whenReady = (argv: readonly string[], workingDirectory: string) =>
    void app.whenReady().then(() => onStartedAgain(argv, workingDirectory));
  app.on('second-instance', (_event, argv, workingDirectory) => whenReady(argv, workingDirectory));
  app.on('activate', () => whenReady([], process.cwd()));
  return true;
}
