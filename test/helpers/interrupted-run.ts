// Starts what a test leaves to its helpers to end, tells the test that it runs, and waits to be interrupted.
import { startShell } from '../electron/shell.ts';
import { startServerProcess, temporaryDirectory } from './server-process.ts';
import { mountSmallDisk } from './small-disk.ts';

export interface Running {
  /** Of a server, of the desktop app, and of the app's server. */
  pids: number[];
  /** Where a disk is mounted; null where that is not allowed. */
  disk: string | null;
}

const server = await startServerProcess({ dataDir: temporaryDirectory() });
const app = startShell({
  dataDir: temporaryDirectory('app'),
  env: { STAND_IN_APP_DATA: temporaryDirectory() },
});
const { pid: serverOfApp } = await app.event('forked');
const disk = mountSmallDisk(1);
process.send?.({
  pids: [server.pid, app.process.pid!, serverOfApp],
  disk: typeof disk === 'string' ? null : disk.path,
} satisfies Running);
