// One daily backup as a worker thread.
import { parentPort, workerData } from 'node:worker_threads';
import { copyDatabase } from '#server/database/copy-database.ts';
import { backUpToFolder, type ScheduledBackup } from '#server/features/backup/folder-backup.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import type { WorkerMessage } from './worker-message.ts';

export interface ScheduledBackupData extends ScheduledBackup {
  /** The buffer of the time that servers share, by which a backup is due; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
}

const { installation, sharedTime, ...settings } = workerData as ScheduledBackupData;

const ALIVE_EVERY_MS = 30_000;

const stopping = new AbortController();
parentPort?.on('message', (message) => {
  if (message === 'cancel') stopping.abort();
});

/** A large database takes long, and a folder on a hanging drive longer: neither makes the service unhealthy. */
const alive = setInterval(
  () => parentPort?.postMessage({ alive: true } satisfies WorkerMessage),
  ALIVE_EVERY_MS,
);
const backup = await backUpToFolder({
  ...settings,
  installation: { ...installation, masterKey: Buffer.from(installation.masterKey) },
  copyDatabase,
  now: sharedClock(sharedTime).now,
  signal: stopping.signal,
});
clearInterval(alive);
parentPort?.postMessage({ backup } satisfies WorkerMessage);
// Nothing keeps the thread alive after this.
parentPort?.close();
