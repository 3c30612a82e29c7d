// The seats of floating licenses: takes and frees them, offers free ones to waiting clients, and counts their use.
import type { Events } from '#server/features/events/event-service.ts';
import type { EventName } from '#server/features/events/event-contract.ts';
import type { License } from '#server/rules/license.ts';
import type { Clock } from '#server/platform/clock.ts';
import { seatLimit } from '#server/rules/floating-terms.ts';
import { freedSeats } from './freed-seats.ts';
import type { PoolObject } from './lease-contract.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { HeldSeat, HeldSeats, LeaseJudge, LeaseVerdict } from './lease-judge.ts';
import { holdsSeat, isShareable, type LeaseRow, type SeatOfLease } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { LeaseUsageStore, UsageRow } from './lease-usage-store.ts';
import { fits, type OpenPool } from './open-pool.ts';
import { announcements, isSame } from './pool-announcements.ts';
import type { PoolRow, PoolStore } from './pool-store.ts';
import {
  hourOf,
  type MeterBounds,
  meterBounds,
  meteredHours,
  meteredUntil,
  neededSeats,
} from './usage-meter.ts';
import { createWaitingLine } from './waiting-line.ts';

/** How long an offered seat is held for the client that is first in the queue. */
const OFFER_MS = 30_000;
/** `pool.available` and `pool.overdraft_ended` are sent after this time without another change. */
export const CALM_MS = 60_000;

/** What is shown of a pool. */
interface ShownPool {
  license: { id: number; terms: Pick<License['terms'], 'seats' | 'overdraftSeats'> };
  row: Pick<PoolRow, 'inUse' | 'borrowed' | 'queued'>;
}

/** Who asks for seats. */
interface Claim extends Pick<LeaseRow, 'userName' | 'host' | 'address' | 'seatKey' | 'units'> {
  /** ID of a lease whose seat it takes over. */
  takesOver?: number | undefined;
}

interface Change {
  /** Seats taken; negative if freed. */
  taken?: number;
  borrowed?: number;
  queued?: number;
}

interface Needs {
  pools: PoolStore;
  leases: LeaseStore;
  usage: LeaseUsageStore;
  judge: LeaseJudge;
  events: Events;
  leaseClock: LeaseClock;
  isClockTrusted(): boolean;
  /** Without jumps that are not trusted. */
  steadyClock: Clock;
}

export function createSeatPools(needs: Needs) {
  const { pools, leases, usage, judge, events, leaseClock, isClockTrusted, steadyClock } = needs;
  const inLine = createWaitingLine(needs);
  const boundsNow = (): MeterBounds => meterBounds(isClockTrusted() ? steadyClock.now() : null);

  async function toObject({ license, row }: ShownPool): Promise<PoolObject> {
    const { seats: total } = license.terms;
    const { inUse, borrowed, queued } = row;
    const reserved = await judge.reserved({
      licenseId: license.id,
      limit: seatLimit(license.terms),
      inUse,
      holders: () => leases.heldSeats(license.id),
    });
    return {
      total,
      in_use: inUse,
      available: total === null ? null : Math.max(0, total - inUse - reserved),
      reserved,
      borrowed,
      overdraft: total === null ? 0 : Math.max(0, inUse - total),
      queued,
    };
  }

  const announcementsOf = ({ license, limit, row }: OpenPool, inUse: number) =>
    announcements(row, { seats: license.terms.seats, limit, inUse }, leaseClock.now());

  async function announce(pool: OpenPool, names: readonly EventName[]): Promise<void> {
    if (names.length === 0) return;
    const extra = { pool: await toObject(pool) };
    for (const name of names) await events.emit({ name, license: pool.license, extra });
  }

  async function countUse(before: PoolRow, after: PoolRow, queued: number): Promise<void> {
    const { licenseId, meteredAt: at } = after;
    if (at < before.meteredAt) await usage.forget(licenseId, at);
    const hours = new Map(
      meteredHours(licenseId, before.inUse, before.meteredAt, at).map((hour) => [hour.hour, hour]),
    );
    const hour = hourOf(steadyClock.now());
    const current: UsageRow = hours.get(hour) ?? {
      licenseId,
      hour,
      peak: 0,
      needed: 0,
      seatMs: 0,
      denied: 0,
      queued: 0,
    };
    const rose = after.inUse > before.inUse;
    if (rose || queued > 0)
      hours.set(hour, {
        ...current,
        queued,
        peak: rose ? after.inUse : current.peak,
        needed: queued > 0 ? neededSeats(after.inUse, await leases.wantedUnits(licenseId)) : 0,
      });
    for (const used of hours.values()) await usage.add(used);
  }

  /** @returns false if the seats are not free; then nothing is changed */
  async function change(pool: OpenPool, { taken = 0, borrowed = 0, queued = 0 }: Change): Promise<boolean> {
    const before = pool.row;
    const { names, marks } = announcementsOf(pool, before.inUse + taken);
    const row: PoolRow = {
      ...before,
      ...marks,
      inUse: before.inUse + taken,
      borrowed: before.borrowed + borrowed,
      queued: before.queued + queued,
      meteredAt: meteredUntil(before.meteredAt, steadyClock.now(), isClockTrusted()),
    };
    if (!(await pools.change(row, taken, pool.limit))) return false;
    pool.row = { ...row, version: before.version + 1 };
    await countUse(before, pool.row, Math.max(0, queued));
    await announce(pool, names);
    return true;
  }

  /** Seats that the claim needs in addition to those that it shares. */
  async function missingUnits({ license }: OpenPool, claim: Claim): Promise<number> {
    const { seatKey, units, takesOver } = claim;
    if (!isShareable(seatKey)) return units;
    return Math.max(0, units - (await leases.seatUnits(license.id, seatKey, takesOver)));
  }

  /** The seats, without one that the claim takes over. */
  function seatsFor({ license, limit, row }: OpenPool, { takesOver }: Pick<Claim, 'takesOver'>): HeldSeats {
    const holders = () => leases.heldSeats(license.id, takesOver);
    return { licenseId: license.id, limit, inUse: row.inUse, holders };
  }

  async function verdict(pool: OpenPool, claim: Claim, units: number): Promise<LeaseVerdict> {
    const { userName: user, host, address } = claim;
    return (await judge.among(seatsFor(pool, claim)))({ user, host, address, units });
  }

  /** Whether the claim takes no seat that clients in line wait for. @param ahead those before it */
  async function mayPass(
    pool: OpenPool,
    claim: Claim,
    units: number,
    ahead: readonly HeldSeat[],
  ): Promise<boolean> {
    if (ahead.length === 0) return true;
    const { userName: user, host, address } = claim;
    const seats = seatsFor(pool, claim);
    const holders = async () => [...(await seats.holders()), ...ahead];
    const test = await judge.passing({ ...seats, holders });
    return test?.mayPass({ user, host, address, units }) ?? false;
  }

  /** Whether clients may pass others in line, because seats are reserved for them. */
  async function reservesSeats(pool: OpenPool): Promise<boolean> {
    const holders = () => Promise.resolve([]);
    return (await judge.passing({ ...seatsFor(pool, {}), holders })) !== null;
  }

  /**
   * Holds free seats for the clients in line.
   * @returns those that wait for seats which clients behind them must not take
   */
  async function offer(pool: OpenPool): Promise<HeldSeat[]> {
    if (pool.row.queued === 0) return [];
    const ahead: HeldSeat[] = [];
    let canPass: boolean | undefined;
    for await (const client of inLine(pool)) {
      const { id, units, isReady } = client;
      if (isReady && (await change(pool, { taken: units }))) {
        await leases.offer(id, leaseClock.now() + OFFER_MS);
        continue;
      }
      ahead.push(client);
      // The rest of a long line is read only if someone in it may pass.
      if (!fits(pool, 1)) break;
      canPass ??= await reservesSeats(pool);
      if (!canPass) break;
    }
    return ahead;
  }

  return {
    toObject,
    /** Which pools have to be metered again. */
    meterBounds: boundsNow,
    change,
    missingUnits,
    verdict,
    inLine,
    offer,
    mayPass,

    /**
     * Locks the pool of a license until the transaction ends.
     * @param find reads the license. Called once the pool is locked, perhaps twice
     */
    async open(licenseId: number, find: () => Promise<License | null>): Promise<OpenPool> {
      const [row, license] = await pools.lockAndRead(licenseId, steadyClock.now(), find);
      if (!license) throw new Error(`pool of the license ${licenseId}, which does not exist`);
      return { license, limit: seatLimit(license.terms), row };
    },

    /** The pool without a lock, for showing it. */
    async look(license: License): Promise<OpenPool> {
      const empty = { inUse: 0, borrowed: 0, queued: 0, version: 0, exhausted: 0, overdrawn: 0 };
      const row = await pools.find(license.id);
      const unused = { licenseId: license.id, ...empty, freeSince: null, coveredSince: null, meteredAt: 0 };
      return { license, limit: seatLimit(license.terms), row: row ?? unused };
    },

    /** Frees what ended leases held, and offers it to waiting clients. @param ended as they were before their end */
    async settle(pool: OpenPool, ended: readonly SeatOfLease[]): Promise<void> {
      const { id } = pool.license;
      const holding = ended.filter((lease) => holdsSeat(lease));
      const borrowed = ended.filter(({ state }) => state === 'borrowed');
      await change(pool, {
        taken: 0 - (await freedSeats(id, holding, leases.unitsOfSeats)),
        borrowed: 0 - (await freedSeats(id, borrowed, leases.borrowedUnits)),
        queued: 0 - ended.filter(({ state }) => state === 'queued').length,
      });
      await offer(pool);
    },

    /**
     * Announces that seats are free again, or the overdraft has ended, after a minute without another change. Follows
     * changed limits, and counts usage.
     */
    async review(pool: OpenPool): Promise<void> {
      const calmSince = leaseClock.now() - CALM_MS;
      const isCalm = (since: number | null) => since !== null && since <= calmSince;
      const { row } = pool;
      // A mark from before the seats were lowered does not count.
      const { marks } = announcementsOf(pool, row.inUse);
      const isFree = isCalm(marks.freeSince);
      const isCovered = isCalm(marks.coveredSince);
      const { from, to } = boundsNow();
      const isMetered = row.meteredAt >= from && row.meteredAt <= to;
      if (isSame(row, marks) && !isFree && !isCovered && isMetered) return;
      if (isFree) pool.row = { ...pool.row, exhausted: 0, freeSince: null };
      if (isCovered) pool.row = { ...pool.row, overdrawn: 0, coveredSince: null };
      await change(pool, {});
      await announce(pool, [
        ...(isFree ? (['pool.available'] as const) : []),
        ...(isCovered ? (['pool.overdraft_ended'] as const) : []),
      ]);
    },
  };
}

export type SeatPools = ReturnType<typeof createSeatPools>;
