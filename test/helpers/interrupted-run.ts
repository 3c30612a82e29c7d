// Starts a server and the desktop app, mounts a disk, reports them to the test, and waits for a signal.
import { startShell } from '../electron/shell.ts';
import { startServerProcess, temporaryDirectory } from './server-process.ts';
import { mountSmallDisk } from './small-disk.ts';

export interface Running {
  /** Process IDs of a server, the desktop app, and the app's server. */
  pids: number[];
  /** Mount point; null if mounting is not allowed. */
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
