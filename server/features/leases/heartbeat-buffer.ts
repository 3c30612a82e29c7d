// Collects heartbeats in memory and writes them together: one statement for many leases, within a second.
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { LeaseStore } from './lease-store.ts';

const FLUSH_MS = 500;

export interface HeartbeatBuffer {
  /** Extends the lease with the next write. */
  add(leaseId: number, leaseSeconds: number): void;
  /** Writes what is waiting. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

interface Needs {
  leases: Pick<LeaseStore, 'touch'>;
  transaction: RunTransaction;
  leaseClock: LeaseClock;
  clock: Clock;
  /** Called after each write. */
  onWritten(): void;
  /** Called when a write fails. Its heartbeats are kept for the next one. */
  onError(error: unknown): void;
}

export function createHeartbeatBuffer(needs: Needs): HeartbeatBuffer {
  const { leases, transaction, leaseClock, clock } = needs;
  /** By lease. */
  let waiting = new Map<number, number>();
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  async function write(): Promise<void> {
    if (waiting.size === 0) return;
    const written = waiting;
    waiting = new Map();
    const byLength = Map.groupBy(written, ([, leaseSeconds]) => leaseSeconds);
    try {
      await transaction(async () => {
        await leaseClock.tick();
        for (const [leaseSeconds, entries] of byLength) {
          const ids = entries.map(([id]) => id).toSorted((a, b) => a - b);
          await leases.touch(leaseSeconds, ids, leaseClock.now(), clock.now());
        }
      });
      needs.onWritten();
    } catch (error) {
      for (const [id, leaseSeconds] of written) if (!waiting.has(id)) waiting.set(id, leaseSeconds);
      schedule();
      needs.onError(error);
    }
  }

  function flush(): Promise<void> {
    clearTimeout(timer);
    timer = undefined;
    writing = writing.then(write);
    return writing;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), FLUSH_MS).unref();
  }

  return {
    add(leaseId, leaseSeconds) {
      waiting.set(leaseId, leaseSeconds);
      schedule();
    },
    flush,
    async close() {
      await flush();
      clearTimeout(timer);
    },
  };
}
