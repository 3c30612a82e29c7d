// What a job's worker thread says to the main thread.
import type { DatabaseFault } from '#server/database/database-fault.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';

/** What workers tell: that they live, that something went wrong, or what they have done. */
export interface WorkerMessage {
  alive?: true;
  error?: string;
  /** A statement has found the database damaged, its disk full, and the like. */
  fault?: DatabaseFault;
  /** Events that a scan has written. */
  emitted?: number;
  /** What retention has removed, by kind. */
  removed?: Record<string, number>;
  /** The job stopped because the clock cannot be trusted. */
  held?: true;
  /** Deliveries have been sent or are being sent. */
  sent?: true;
  /** What the upkeep of certificates has done. */
  authorityRenewed?: boolean;
  listNumber?: number | null;
  /** The newest request that the run was begun for. */
  answered?: number;
}

/** What the page has to read again. */
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
