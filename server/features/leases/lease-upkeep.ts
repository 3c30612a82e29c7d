// The one job of leases: ends those that are due, serves waiting clients, counts usage, announces changes of pools.
import os from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { HeartbeatBuffer } from './heartbeat-buffer.ts';
import type { LeaseClock } from './lease-clock.ts';
import { MAX_GAP_MS } from './lease-clock-store.ts';
import type { SeatOfLease } from './lease-row.ts';
import { type EndedLease, ENDS_AT_ONCE, type LeaseStore } from './lease-store.ts';
import type { PoolStore } from './pool-store.ts';
import type { OpenPool } from './open-pool.ts';
import { CALM_MS, type SeatPools } from './seat-pools.ts';

const EVERY_MS = 1000;
/** While no lease is live and none is granted here. Another server that grants one looks after it itself. */
const RESTING_MS = 5000;
/** Another server may have a heartbeat in memory for a second. It came in time: late ones are written at once. */
const SLACK_MS = 2000;
const POOLS_AT_ONCE = 200;
/**
 * For this long after seats were changed, pools in use are compared with them: a change of a pool that had read the earlier
 * seats may commit later.
 */
const SETTLE_MS = 10_000;
/** Finds what was changed elsewhere: by a server that has crashed since, or by a command. */
const COMPARE_EVERY_MS = 60_000;

const SEAT_CHANGES: ReadonlySet<string> = new Set(['license.updated', 'license.upgraded', 'plan.updated']);

/** @param action as in the audit log @returns whether it may raise or lower the seats of licenses */
export function changesSeats(action: string): boolean {
  return SEAT_CHANGES.has(action);
}

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  leases: LeaseStore;
  poolStore: Pick<PoolStore, 'needAttention' | 'hasPending'>;
  pools: SeatPools;
  buffer: Pick<HeartbeatBuffer, 'flush'>;
  transaction: RunTransaction;
  leaseClock: LeaseClock;
  clock: Clock;
  isClockTrusted(): boolean;
  onChanged(): void;
  onError(error: unknown): void;
}

export interface LeaseUpkeep {
  start(): void;
  /** Does what is due now. */
  run(): Promise<void>;
  /** Call it after a change that may have raised or lowered the seats of licenses has been committed. */
  noteSeatsChanged(): void;
  close(): Promise<void>;
}

/** An ended lease as it was before. */
function asBefore(lease: EndedLease): SeatOfLease {
  const state =
    lease.endReason === 'queue_lapsed'
      ? 'queued'
      : lease.endReason === 'released'
        ? 'lingering'
        : lease.endReason === 'returned'
          ? 'borrowed'
          : 'active';
  return { ...lease, state };
}

export function createLeaseUpkeep(needs: Needs): LeaseUpkeep {
  const { licenses, leases, pools, transaction, leaseClock, clock } = needs;
  let isClosed = false;
  /** Whether a lease is live, or may be soon. */
  let isNeeded = true;
  /** When a lease was last about to be granted, in `performance.now()` time. */
  let wokenAt = -Infinity;
  /** Undefined while it works. */
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> = Promise.resolve();
  /** When seats were last changed here, and when pools were last compared with them, in `performance.now()` time. */
  let changedAt = performance.now();
  let comparedAt = -Infinity;
  /** Since the start of the machine, in milliseconds. */
  let tickedAt = -Infinity;
  let isAnchored = false;

  function withPool(licenseId: number, change: (pool: OpenPool) => Promise<void>): Promise<void> {
    return transaction(
      async () => {
        await change(await pools.open(licenseId, () => licenses.find({ id: licenseId })));
      },
      undefined,
      { alone: true },
    );
  }

  /** @param before lease time */
  async function endDue(before: number): Promise<void> {
    for (;;) {
      const due = await leases.findDue(before, clock.now(), ENDS_AT_ONCE);
      for (const licenseId of due) {
        if (isClosed) return;
        await withPool(licenseId, async (pool) => {
          const ended = await leases.endDue(licenseId, before, clock.now(), ENDS_AT_ONCE);
          if (ended.length === 0) return;
          await pools.settle(
            pool,
            ended.map((lease) => asBefore(lease)),
          );
          afterCommit(needs.onChanged);
        });
        // Lets requests take their turn between two batches.
        await delay(0);
      }
      if (due.length === 0) return;
    }
  }

  async function attend(): Promise<void> {
    const now = performance.now();
    const compares =
      now - changedAt < SETTLE_MS || comparedAt < changedAt || now - comparedAt > COMPARE_EVERY_MS;
    for (let after = 0; ;) {
      const some = await needs.poolStore.needAttention(after, {
        calmBefore: leaseClock.now() - CALM_MS,
        metered: pools.meterBounds(),
        compares,
        limit: POOLS_AT_ONCE,
      });
      for (const licenseId of some) {
        if (isClosed) return;
        await withPool(licenseId, async (pool) => {
          await pools.review(pool);
          await pools.offer(pool);
        });
      }
      const last = some.at(-1);
      if (last === undefined || some.length < POOLS_AT_ONCE) break;
      after = last;
    }
    if (compares) comparedAt = now;
  }

  /**
   * A borrowed seat ends with its file, so the time in which no server ran, the machine slept or the database was away
   * counts for it. The time since the start of the machine includes its sleep, and ignores changes of the wall clock.
   */
  async function tick(): Promise<void> {
    await leaseClock.tick();
    const now = os.uptime() * 1000;
    if (now - tickedAt > MAX_GAP_MS) isAnchored = false;
    tickedAt = now;
    const isTrusted = needs.isClockTrusted();
    // A clock that was years behind at the start is held when it is corrected; leases follow it once it is confirmed.
    if (!isTrusted) isAnchored = false;
    if (isAnchored || !isTrusted) return;
    await transaction(async () => {
      await leases.anchorBorrowed(leaseClock.now(), clock.now());
    });
    isAnchored = true;
  }

  async function work(): Promise<void> {
    // Read before the heartbeats are written, so that no lease ends whose heartbeat has come in time since.
    const before = leaseClock.now() - SLACK_MS;
    await needs.buffer.flush();
    // Also if this fails.
    isNeeded = true;
    // Lease time is written only while something depends on it, so that an idle server leaves the disk alone.
    const reasons = await Promise.all([leases.hasLive(), needs.poolStore.hasPending()]);
    if (!reasons.includes(true)) {
      // A lease that is about to be granted may not be visible yet.
      isNeeded = performance.now() - wokenAt < RESTING_MS;
      return;
    }
    await tick();
    await endDue(before);
    await attend();
  }

  function run(): Promise<void> {
    running = running.catch(() => {}).then(work);
    return running;
  }

  function schedule(): void {
    if (isClosed) return;
    timer = setTimeout(
      () => {
        timer = undefined;
        running = running.then(work).catch((error: unknown) => {
          if (!isClosed) needs.onError(error);
        });
        void running.then(schedule);
      },
      isNeeded ? EVERY_MS : RESTING_MS,
    ).unref();
  }

  function wake(): void {
    wokenAt = performance.now();
    if (isNeeded) return;
    isNeeded = true;
    if (timer === undefined) return;
    clearTimeout(timer);
    schedule();
  }

  return {
    start() {
      leaseClock.onRefresh(wake);
      running = tick().catch(needs.onError);
      schedule();
    },
    run,
    noteSeatsChanged() {
      changedAt = performance.now();
    },
    async close() {
      isClosed = true;
      clearTimeout(timer);
      await running.catch(() => {});
      // Otherwise the last second would pass again after a restart.
      if (isNeeded) await leaseClock.tick().catch(() => {});
    },
  };
}
