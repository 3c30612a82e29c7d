// Collects heartbeats in memory and writes them together: one statement for many leases, within a second.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
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
  const { leases, transaction, leaseClock, clock, onWritten, onError } = needs;
  /** By lease. */
  let waiting = new Map<number, number>();

  const { schedule, flush, close } = createDelayedWrite<Map<number, number>>({
    delayMs: FLUSH_MS,
    take() {
      if (waiting.size === 0) return null;
      const taken = waiting;
      waiting = new Map();
      return taken;
    },
    async write(taken) {
      const byLength = Map.groupBy(taken, ([, leaseSeconds]) => leaseSeconds);
      await leaseClock.tick();
      await transaction(async () => {
        for (const [leaseSeconds, entries] of byLength) {
          const ids = entries.map(([id]) => id).toSorted((a, b) => a - b);
          await leases.touch(leaseSeconds, ids, leaseClock.now(), clock.now());
        }
      });
      onWritten();
    },
    putBack(taken) {
      for (const [id, leaseSeconds] of taken) if (!waiting.has(id)) waiting.set(id, leaseSeconds);
    },
    onError,
  });

  return {
    add(leaseId, leaseSeconds) {
      waiting.set(leaseId, leaseSeconds);
      schedule();
    },
    flush,
    close,
  };
}
