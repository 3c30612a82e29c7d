// Reports faults of a worker's database connection to the main thread.
import type { MessagePort } from 'node:worker_threads';
import { createStorageGuard, type StorageGuard } from '#server/database/storage-guard.ts';
import type { WorkerMessage } from './worker-message.ts';

/** @param port null in the main thread */
export function reportingGuard(port: MessagePort | null): StorageGuard {
  const guard = createStorageGuard();
  guard.onFault((fault) => port?.postMessage({ fault } satisfies WorkerMessage));
  return guard;
}
