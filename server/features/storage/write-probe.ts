// Checks by a real write whether the database can be written. Concurrent callers share the result.
import { setTimeout as delay } from 'node:timers/promises';
import type { DatabaseFault } from '#server/platform/database-fault.ts';
import type { WriterState } from '#server/database/write-lock-wait.ts';
import { singleFlight } from '#server/platform/single-flight.ts';

/** Load balancers and open pages ask far more often. */
const FRESH_MS = 5000;
/** Shorter, so that the end of a fault is noticed sooner. */
const FRESH_FAULT_MS = 1000;
/** Callers get an answer within this time, even if the disk hangs. */
const DEADLINE_MS = 2000;

interface Needs {
  /** Writes and commits a row. */
  write(): Promise<void>;
  writerState(): WriterState;
  /** Classifies a failed write; null if the error does not concern the storage. */
  faultOf(error: unknown): DatabaseFault | null;
  /** The fault for a write that does not finish. */
  stuck: DatabaseFault;
  /** Called with each result; null means the write succeeded. */
  onResult(fault: DatabaseFault | null): void;
}

export interface WriteProbe {
  /** @returns the fault that prevents writes; null if there is none */
  check(): Promise<DatabaseFault | null>;
  /** Makes the next check write again, even if the last result is fresh. */
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
      // A large import by this server delays other writes, but is not a fault.
      if (outcome === 'late' && writerState() !== 'writing') settle(stuck);
      return fault;
    },
    expire() {
      endedAt = -Infinity;
    },
  };
}
