// How a job's worker thread reports the faults of its database connection to the main thread.
import type { MessagePort } from 'node:worker_threads';
import { createStorageGuard, type StorageGuard } from '#server/database/storage-guard.ts';
import type { WorkerMessage } from './worker-message.ts';

/** @param port null where there is no main thread */
export function reportingGuard(port: MessagePort | null): StorageGuard {
  const guard = createStorageGuard();
  guard.onFault((fault) => port?.postMessage({ fault } satisfies WorkerMessage));
  return guard;
}
