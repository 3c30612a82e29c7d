// Lease time: milliseconds in which leases are measured. It stands still while no server runs, and ignores changes of
// the wall clock, so that neither a restart nor a wrong clock ends a lease.
import type { RunTransaction } from '#server/database/transaction.ts';
import { monotonicMs } from '#server/platform/clock-guard.ts';
import { singleFlight } from '#server/platform/single-flight.ts';
import { type LeaseClockStore, MAX_GAP_MS } from './lease-clock-store.ts';

/** A reading older than this is taken again before a lease is granted. */
const FRESH_MS = 1000;

export interface LeaseClock {
  /** Lease time in milliseconds, estimated from the last reading. */
  now(): number;
  /** Reads and stores the lease time if the last reading is old. Call it before a transaction that grants a lease. */
  refresh(): Promise<void>;
  /** Reads the lease time, unless it has been read before. For a process that only looks, such as a command. */
  ready(): Promise<void>;
  /** The same as `refresh`, always. */
  tick(): Promise<void>;
  /** Called by each `refresh`: a lease may be granted soon. */
  onRefresh(listener: () => void): void;
}

interface Needs {
  store: LeaseClockStore;
  transaction: RunTransaction;
}

export function createLeaseClock({ store, transaction }: Needs): LeaseClock {
  let leaseAt = 0;
  let readAt = -Infinity;
  let tellRefresh = (): void => {};

  async function advance(): Promise<void> {
    const own = monotonicMs();
    leaseAt = await store.tick(own);
    readAt = own;
  }

  /** All servers write the one row: no longer transaction may keep it locked. */
  const tick = () => transaction(advance, undefined, { single: true });
  const renew = singleFlight(tick);

  return {
    // If the database cannot be reached, lease time stops soon, as it does for the other servers.
    now: () => leaseAt + Math.min(MAX_GAP_MS, Math.max(0, monotonicMs() - readAt)),
    async refresh() {
      tellRefresh();
      if (monotonicMs() - readAt >= FRESH_MS) await renew();
    },
    async ready() {
      if (readAt !== -Infinity) return;
      leaseAt = await store.read();
      readAt = monotonicMs();
    },
    tick,
    onRefresh(listener) {
      tellRefresh = listener;
    },
  };
}
