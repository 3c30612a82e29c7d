// One daily backup as a worker thread.
import { parentPort, workerData } from 'node:worker_threads';
import { copyDatabase } from '#server/database/copy-database.ts';
import { backUpToFolder, type ScheduledBackup } from '#server/features/backup/folder-backup.ts';
import { systemClock } from '#server/platform/clock.ts';
import type { WorkerMessage } from './worker-message.ts';

const { installation, ...settings } = workerData as ScheduledBackup;

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
  now: systemClock.now,
  signal: stopping.signal,
});
clearInterval(alive);
parentPort?.postMessage({ backup } satisfies WorkerMessage);
// Nothing keeps the thread alive after this.
parentPort?.close();
