// Messages from a job's worker thread to the main thread.
import type { DatabaseFault } from '#server/platform/database-fault.ts';
import type { FolderBackupResult } from '#server/features/backup/folder-backup.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';

/** Progress, faults and results of a worker. An empty message shows that it is alive. */
export interface WorkerMessage {
  alive?: true;
  error?: string;
  /** What the last error was about works again. */
  recovered?: true;
  /** A failed statement found the database damaged, the disk full or similar. */
  fault?: DatabaseFault;
  /** Number of events that a scan has written. */
  emitted?: number;
  /** Numbers of rows that retention has removed, by kind. */
  removed?: Record<string, number>;
  /** The job stopped because the clock cannot be trusted. */
  held?: true;
  /** Deliveries have been sent or are being sent. */
  sent?: true;
  /** What certificate maintenance has done. */
  authorityRenewed?: boolean;
  listNumber?: number | null;
  /** What came of a daily backup. */
  backup?: FolderBackupResult;
  /** The newest ticket that the run has answered. */
  answered?: number;
}

/** The topics that the page has to reload. */
export function topicsOf({
  emitted,
  sent,
  removed,
  authorityRenewed,
  listNumber,
}: WorkerMessage): LiveTopic[] {
  return [
    ...(emitted ? (['licenses', 'events', 'deliveries'] as const) : []),
    ...(sent ? (['deliveries', 'webhooks'] as const) : []),
    ...(removed ? (['settings', 'events', 'deliveries', 'webhooks', 'audit'] as const) : []),
    ...(authorityRenewed ? (['certificates', 'audit'] as const) : []),
    ...(typeof listNumber === 'number' ? (['certificates'] as const) : []),
  ];
}
