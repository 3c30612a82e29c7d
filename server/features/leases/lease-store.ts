import type { Sequelize } from 'sequelize';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { HeldSeat } from './lease-judge.ts';
import type { LeaseEndReason, LeaseState } from './lease-contract.ts';
import { LEASE_CHANGES, LEASE_COLUMNS, LEASE_VALUES, type LeaseRow } from './lease-row.ts';

const LIVE = 'e.ended_at IS NULL';
/** The same as `holdsSeat`. */
const HOLDS = `${LIVE} AND (e.state <> 'queued' OR e.offered = 1)`;
const IDS_AT_ONCE = 1000;
/** Leases that end in one transaction, so that other changes wait only a few milliseconds. */
export const ENDS_AT_ONCE = 200;
/** IDs begin with 1. */
const NO_LEASE = 0;
/** Later than any time. */
const NEVER = Number.MAX_SAFE_INTEGER;

/** How leases end together. */
export interface LeaseEnd {
  state: Extract<LeaseState, 'released' | 'expired' | 'reclaimed'>;
  reason: LeaseEndReason;
  /** Wall time. */
  at: number;
}

/** What a lease that was due held. Its row is not read: many end together. */
export type EndedLease = Pick<LeaseRow, 'seatKey' | 'units' | 'offered' | 'endReason'>;

/** What a lease held that no longer holds a seat. */
type FreedSeat = Pick<LeaseRow, 'seatKey' | 'units'>;

/** A lease that waits for a seat, as far as those before it decide about it. */
export type WaitingLease = Pick<LeaseRow, 'id' | 'seatKey' | 'units' | 'userName' | 'host' | 'address'>;

/** A lease that holds a seat, for a list of holders. */
export type Holder = Pick<LeaseRow, 'id' | 'userName' | 'host' | 'address' | 'units' | 'state' | 'issuedAt'>;

export function createLeaseStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const { isIn } = sql.dialect;
  const find = (where: string) =>
    sql.statement<LeaseRow>(`SELECT ${LEASE_COLUMNS} FROM leases e WHERE ${where}`);
  const byId = find('e.id = $id');
  const byTokenHash = find('e.token_hash = $tokenHash');
  const byInstance = find(`e.license_id = $licenseId AND e.instance_id = $instanceId AND ${LIVE}`);
  const lingering = find(
    `e.license_id = $licenseId AND ${LIVE} AND e.state = 'lingering'
     AND ((e.user_key = $userKey AND e.host_key = $hostKey) OR e.machine_fingerprint = $machineFingerprint)
     ORDER BY e.units DESC, e.id LIMIT 1`,
  );
  const waiting = sql.statement<WaitingLease>(`
    SELECT e.id AS "id", e.seat_key AS "seatKey", e.units AS "units", e.user_name AS "userName", e.host AS "host",
      e.address AS "address"
    FROM leases e WHERE e.license_id = $licenseId AND e.state = 'queued' AND e.offered = 0 AND e.id > $after
      AND e.due_at > $now
    ORDER BY e.id LIMIT $limit`);
  const offer = sql.statement('UPDATE leases SET offered = 1, due_at = $dueAt WHERE id = $id');
  const insert = sql.statement<{ id: number }>(`INSERT INTO leases ${LEASE_VALUES} RETURNING id AS "id"`);
  const update = sql.statement(`UPDATE leases SET ${LEASE_CHANGES} WHERE id = $id`);
  const live = sql.statement(`SELECT 1 AS "live" FROM leases e WHERE ${LIVE} LIMIT 1`);
  const touch = sql.statement(`
    UPDATE leases SET due_at = $dueAt, lease_seconds = $leaseSeconds, heartbeat_at = $at
    WHERE ${isIn('id', 'ids')} AND state = 'active'`);
  const seatUnits = sql.statement<{ units: number }>(`
    SELECT coalesce(max(e.units), 0) AS "units" FROM leases e
    WHERE e.license_id = $licenseId AND e.seat_key = $seatKey AND e.id <> $except AND ${HOLDS}`);
  const firstOfSeat = sql.statement<Pick<LeaseRow, 'units' | 'overdraft'>>(`
    SELECT e.units AS "units", e.overdraft AS "overdraft" FROM leases e
    WHERE e.license_id = $licenseId AND e.seat_key = $seatKey AND e.id <> $except AND ${LIVE}
      AND e.state <> 'queued'
    ORDER BY e.units DESC, e.id LIMIT 1`);
  const unitsBySeat = (counted: string) => {
    const units = sql.statement<{ seatKey: string; units: number }>(`
      SELECT e.seat_key AS "seatKey", max(e.units) AS "units" FROM leases e
      WHERE e.license_id = $licenseId AND ${isIn('e.seat_key', 'seatKeys')} AND ${counted} GROUP BY e.seat_key`);
    return async (licenseId: number, seatKeys: readonly string[]): Promise<Map<string, number>> => {
      const rows = await units.all({ licenseId, seatKeys });
      return new Map(rows.map((row) => [row.seatKey, row.units]));
    };
  };
  const wanted = sql.statement<{ seatKey: string; units: number }>(`
    SELECT w.seat_key AS "seatKey", max(w.units) - coalesce(max(e.units), 0) AS "units" FROM leases w
    LEFT JOIN leases e ON e.license_id = w.license_id AND e.seat_key = w.seat_key AND ${HOLDS}
    WHERE w.license_id = $licenseId AND w.state = 'queued' AND w.offered = 0 GROUP BY w.seat_key`);
  // After a start with a clock that was ahead, a borrowed lease is due before its file ends.
  const fileHasEnded = (lease: string) =>
    `(${lease}.state <> 'borrowed' OR ${lease}.borrowed_until <= ${sql.dialect.sharedClock('at')})`;
  const due = sql.statement<{ licenseId: number }>(`
    SELECT DISTINCT d.license_id AS "licenseId" FROM (
      SELECT e.license_id FROM leases e WHERE ${LIVE} AND e.due_at <= $before AND ${fileHasEnded('e')}
      ORDER BY e.due_at LIMIT $limit) d`);
  const endDue = sql.statement<EndedLease>(`
    UPDATE leases AS e SET state = 'expired', end_reason = CASE
        WHEN e.state = 'queued' THEN 'queue_lapsed' WHEN e.state = 'lingering' THEN 'released'
        WHEN e.state = 'borrowed' THEN 'returned' ELSE 'expired' END,
      ended_at = $at
    WHERE e.id IN (
      SELECT d.id FROM leases d WHERE d.license_id = $licenseId AND d.ended_at IS NULL AND d.due_at <= $before
        AND ${fileHasEnded('d')} ORDER BY d.due_at LIMIT $limit)
    AND e.ended_at IS NULL AND e.due_at <= $before AND ${fileHasEnded('e')}
    RETURNING seat_key AS "seatKey", units AS "units", offered AS "offered", end_reason AS "endReason"`);
  const position = sql.statement<{ count: number }>(
    `SELECT count(*) AS "count" FROM leases e WHERE e.license_id = $licenseId AND e.state = 'queued' AND e.id <= $id`,
  );
  const nextDue = sql.statement<{ at: number | null }>(
    `SELECT min(e.due_at) AS "at" FROM leases e WHERE e.license_id = $licenseId AND ${HOLDS}`,
  );
  // Seats that can end, with the units that are newer. A seat is as old as the oldest of its leases; one that is only offered
  // is taken later than all others.
  const seatsByAge = `
    WITH seats AS (
      SELECT e.seat_key, max(e.units) AS units, min(e.id) AS id,
        min(CASE WHEN e.state = 'queued' THEN $never ELSE e.issued_at END) AS issued_at
      FROM leases e WHERE e.license_id = $licenseId AND ${HOLDS} AND e.state <> 'borrowed' GROUP BY e.seat_key),
    by_age AS (
      SELECT s.seat_key, coalesce(sum(s.units) OVER (
        ORDER BY s.issued_at DESC, s.id DESC ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING), 0) AS newer
      FROM seats s)`;
  const newer = sql.statement<{ units: number }>(`
    ${seatsByAge} SELECT CAST(newer AS BIGINT) AS "units" FROM by_age WHERE seat_key = $seatKey`);
  const freeUnused = sql.statement<FreedSeat>(`
    ${seatsByAge} UPDATE leases SET offered = 0,
      state = CASE WHEN state = 'lingering' THEN 'reclaimed' ELSE state END,
      end_reason = CASE WHEN state = 'lingering' THEN 'seats_lowered' END,
      ended_at = CASE WHEN state = 'lingering' THEN $at ELSE ended_at END
    WHERE id IN (
      SELECT e.id FROM leases e JOIN by_age a ON a.seat_key = e.seat_key
      WHERE e.license_id = $licenseId AND ${HOLDS} AND e.state IN ('lingering', 'queued') AND a.newer < $excess
      ORDER BY a.newer, e.id DESC LIMIT $limit)
    RETURNING seat_key AS "seatKey", units AS "units"`);
  // The first lease describes a shared seat. IDs tell which it is, also if the clocks of two servers differ.
  const held = sql.statement<HeldSeat>(`
    SELECT e.user_name AS "user", e.host AS "host", e.address AS "address", s.units AS "units" FROM (
      SELECT min(e.id) AS id, max(e.units) AS units
      FROM leases e WHERE e.license_id = $licenseId AND e.id <> $except AND ${HOLDS} GROUP BY e.seat_key) s
    JOIN leases e ON e.id = s.id`);
  const holders = sql.statement<Holder>(`
    SELECT e.id AS "id", e.user_name AS "userName", e.host AS "host", e.address AS "address", e.units AS "units",
      e.state AS "state", e.issued_at AS "issuedAt"
    FROM leases e WHERE e.license_id = $licenseId AND ${HOLDS} ORDER BY e.id DESC LIMIT $limit`);
  const countHolders = sql.statement<{ count: number }>(
    `SELECT count(*) AS "count" FROM leases e WHERE e.license_id = $licenseId AND ${HOLDS}`,
  );

  // After the sleep of a machine, its own idea of the shared clock is still old.
  const borrowedDue = `$now + borrowed_until - ${sql.dialect.sharedClock('at')}`;
  const anchor = sql.statement(`
    UPDATE leases SET due_at = ${borrowedDue}
    WHERE ended_at IS NULL AND state = 'borrowed' AND due_at > ${borrowedDue}`);

  return {
    findById: (id: number) => byId.first({ id }),
    findByTokenHash: (tokenHash: string) => byTokenHash.first({ tokenHash }),
    /** The live lease of an instance. */
    findByInstance: (licenseId: number, instanceId: string) => byInstance.first({ licenseId, instanceId }),
    /** A lingering seat that the same user on the same host, or the same device, has left. */
    findLingering: (
      lease: Pick<LeaseRow, 'licenseId' | 'userKey' | 'hostKey' | 'machineFingerprint'>,
    ): Promise<LeaseRow | null> => lingering.first({ ...lease }),
    async insert(lease: Omit<LeaseRow, 'id'>): Promise<LeaseRow> {
      const row = await insert.first({ ...lease });
      if (!row) throw new Error('inserting a lease returned no row');
      return { ...lease, id: row.id };
    },
    async update(lease: LeaseRow): Promise<void> {
      await update.run({ ...lease });
    },
    /** Extends active leases after heartbeats. @param now lease time @param at wall time */
    async touch(leaseSeconds: number, ids: readonly number[], now: number, at: number): Promise<void> {
      const values = { leaseSeconds, dueAt: now + leaseSeconds * 1000, at };
      for (let start = 0; start < ids.length; start += IDS_AT_ONCE)
        await touch.run({ ...values, ids: ids.slice(start, start + IDS_AT_ONCE) });
    },
    /** Of the leases that have the seat, the first of those with the most units; null if there is none. */
    firstOfSeat: (licenseId: number, seatKey: string, except = NO_LEASE) =>
      firstOfSeat.first({ licenseId, seatKey, except }),
    /** Units of the seat that leases with this key hold together. @param except a lease that does not count */
    seatUnits: async (licenseId: number, seatKey: string, except = NO_LEASE): Promise<number> =>
      (await seatUnits.first({ licenseId, seatKey, except }))?.units ?? 0,
    /** The same for many seats. Those that no lease holds are missing. */
    unitsOfSeats: unitsBySeat(HOLDS),
    /** The same, as far as they are borrowed. */
    borrowedUnits: unitsBySeat(`${LIVE} AND e.state = 'borrowed'`),
    /** Units that clients wait for without an offer, for each seat; less those that other leases hold of it. */
    wantedUnits: async (licenseId: number): Promise<Map<string, number>> =>
      new Map((await wanted.all({ licenseId })).map(({ seatKey, units }) => [seatKey, Math.max(0, units)])),
    /** Licenses with leases that have to end. @param before lease time @param at wall time, for borrowed leases */
    findDue: async (before: number, at: number, limit: number): Promise<number[]> =>
      (await due.all({ before, at, limit })).map(({ licenseId }) => licenseId),
    /** Ends due leases of a license. @returns what they held, and why they ended */
    endDue: (licenseId: number, before: number, at: number, limit: number): Promise<EndedLease[]> =>
      endDue.all({ licenseId, before, at, limit }),
    /** Waiting leases without an offer whose clients still ask, in the order in which they came. @param now lease time */
    waiting: (licenseId: number, after: number, now: number, limit: number) =>
      waiting.all({ licenseId, after, now, limit }),
    /** Marks that a seat is held for a waiting lease. @param dueAt lease time */
    async offer(id: number, dueAt: number): Promise<void> {
      await offer.run({ id, dueAt });
    },
    /** The place of a queued lease, from 1. */
    position: async (licenseId: number, id: number): Promise<number> =>
      (await position.first({ licenseId, id }))?.count ?? 0,
    /** When the next seat would be free without heartbeats, in lease time; null if no lease holds a seat. */
    nextDue: async (licenseId: number): Promise<number | null> =>
      (await nextDue.first({ licenseId }))?.at ?? null,
    /** Units of the seats that are newer than the seat of this lease, without borrowed ones. */
    newerUnits: async ({ licenseId, seatKey }: LeaseRow): Promise<number> =>
      (await newer.first({ licenseId, seatKey, never: NEVER }))?.units ?? 0,
    /**
     * Ends the lingering leases of the newest seats, and takes back their offers, the newest first.
     * @param excess units to be freed @param at wall time
     */
    freeUnused: (licenseId: number, excess: number, at: number, limit: number): Promise<FreedSeat[]> =>
      freeUnused.all({ licenseId, excess, at, limit, never: NEVER }),
    /** One entry for each seat, about the client that took it. @param except a lease that does not count */
    heldSeats: (licenseId: number, except = NO_LEASE): Promise<HeldSeat[]> => held.all({ licenseId, except }),
    holders: (licenseId: number, limit: number): Promise<Holder[]> => holders.all({ licenseId, limit }),
    countHolders: async (licenseId: number): Promise<number> =>
      (await countHolders.first({ licenseId }))?.count ?? 0,
    hasLive: async (): Promise<boolean> => (await live.first()) !== null,
    /**
     * Borrowed leases end when their files do, although lease time stood still meanwhile.
     * @param now lease time @param at wall time; on a shared database, its clock counts
     */
    anchorBorrowed: (now: number, at: number): Promise<number> => anchor.run({ now, at }),
    removeOld: removeOldest(sql, 'leases', 'ended_at'),
  };
}

export type LeaseStore = ReturnType<typeof createLeaseStore>;
