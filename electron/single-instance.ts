// One app per data directory. A second start passes its command line to the first: a file to open, or `--quit`.
import { app } from 'electron';
import { quitOthers, recordRunning } from './running-apps.ts';
import { QUIT_FLAG } from './start-arguments.ts';

interface Needs {
  dataDir: string;
  /** Whether the command line names it. `--quit` is for this app only then. */
  isDataDirNamed: boolean;
  /** Called once the app is ready. */
  onStartedAgain(argv: readonly string[], workingDirectory: string): void;
  /** A second start asks for it. Called once the app is ready. */
  onQuit(): void;
}

/** @returns false for a second start, and for one that only asked a running app to quit: both must exit */
export function setUpSingleInstance({ dataDir, isDataDirNamed, onStartedAgain, onQuit }: Needs): boolean {
  const isFirst = app.requestSingleInstanceLock();
  const onlyQuits = process.argv.includes(QUIT_FLAG);
  if (onlyQuits && !isDataDirNamed) quitOthers(dataDir);
  if (!isFirst || onlyQuits) return false;
  recordRunning(dataDir);
  const whenReady = (argv: readonly string[], workingDirectory: string) =>
    void app.whenReady().then(() => onStartedAgain(argv, workingDirectory));
  app.on('second-instance', (_event, argv, workingDirectory) => {
    // The installer must replace files that are in use.
    if (argv.includes(QUIT_FLAG)) void app.whenReady().then(onQuit);
    else whenReady(argv, workingDirectory);
  });
  app.on('activate', () => whenReady([], process.cwd()));
  return true;
}
