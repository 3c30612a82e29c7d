// Finds out by a real write whether the database can be written; all who ask share it.
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseFault } from '#server/database/database-fault.ts';
import type { WriterState } from '#server/database/write-queue.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

/** A load balancer and a few open pages ask far more often. */
const FRESH_MS = 5000;
/** Whether a fault is over is found out sooner. */
const FRESH_FAULT_MS = 1000;
/** Who asks is answered within this time, whatever the disk does. */
const DEADLINE_MS = 2000;

interface Needs {
  /** Writes and commits a row. */
  write(): Promise<void>;
  writerState(): WriterState;
  /** What a failed write means; null: nothing about the storage. */
  faultOf(error: unknown): DatabaseFault | null;
  /** What a write means that does not end. */
  stuck: DatabaseFault;
  /** Told of each result; null: the write succeeded. */
  onResult(fault: DatabaseFault | null): void;
}

export interface WriteProbe {
  /** @returns the fault that keeps the database from being written; null if it can be */
  check(): Promise<DatabaseFault | null>;
  /** The next check writes again, however fresh the last result is. */
  expire(): void;
}

export function createWriteProbe({ write, writerState, faultOf, stuck, onResult }: Needs): WriteProbe {
  let fault: DatabaseFault | null = null;
  let endedAt = -Infinity;

  function settle(result: DatabaseFault | null): void {
    fault = result;
    onResult(result);
  }

  const run = singleFlight(async () => {
    try {
      await write();
      settle(null);
    } catch (error) {
      settle(faultOf(error));
    } finally {
      endedAt = performance.now();
    }
  });

  return {
    async check() {
      const isFresh = performance.now() - endedAt < (fault === null ? FRESH_MS : FRESH_FAULT_MS);
      if (!run.current() && isFresh) return fault;
      const over = new AbortController();
      const late = delay(DEADLINE_MS, 'late', { ref: false, signal: over.signal }).catch(() => 'done');
      const outcome = await Promise.race([run(), late]);
      over.abort();
      // A large import of this server's own keeps other writes waiting, but that is no fault.
      if (outcome === 'late' && writerState() !== 'writing') settle(stuck);
      return fault;
    },
    expire() {
      endedAt = -Infinity;
    },
  };
}
