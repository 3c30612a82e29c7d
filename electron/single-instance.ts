// One app per data directory. A second start passes its command line to the first: a file to open, or `--quit`.
import { app } from 'electron';
import { QUIT_FLAG } from './start-arguments.ts';

/**
 * @param onStartedAgain called once the app is ready
 * @returns false for a second start and for `--quit`; both must exit
 */
export function setUpSingleInstance(
  onStartedAgain: (argv: readonly string[], workingDirectory: string) => void,
): boolean {
  if (!app.requestSingleInstanceLock() || process.argv.includes(QUIT_FLAG)) return false;
  const whenReady = (argv: readonly string[], workingDirectory: string) =>
    void app.whenReady().then(() => onStartedAgain(argv, workingDirectory));
  app.on('second-instance', (_event, argv, workingDirectory) => {
    // The installer must replace files that are in use.
    if (argv.includes(QUIT_FLAG)) app.quit();
    else whenReady(argv, workingDirectory);
  });
  app.on('activate', () => whenReady([], process.cwd()));
  return true;
}
