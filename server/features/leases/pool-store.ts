import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { together } from '#server/database/transaction.ts';
import type { MeterBounds } from './usage-meter.ts';

/** The seats of a license that are in use. Its row is the lock of everything that takes or frees a seat. */
export interface PoolRow {
  licenseId: number;
  inUse: number;
  borrowed: number;
  queued: number;
  /** Grows with every change, so that what was read from the pool can be reused. */
  version: number;
  /** 1 after `pool.exhausted`, until `pool.available`. */
  exhausted: number;
  /** 1 after `pool.overdraft_started`, until `pool.overdraft_ended`. */
  overdrawn: number;
  /** Lease time since which an exhausted pool has had a free seat; null if it has none. */
  freeSince: number | null;
  /** Lease time since which an overdrawn pool has been within its seats. */
  coveredSince: number | null;
  /** Wall time up to which usage is counted. */
  meteredAt: number;
}

interface Attention {
  calmBefore: number;
  metered: MeterBounds;
  compares: boolean;
  limit: number;
}

const COLUMNS = `
  license_id AS "licenseId", in_use AS "inUse", borrowed AS "borrowed", queued AS "queued", version AS "version",
  exhausted AS "exhausted", overdrawn AS "overdrawn", free_since AS "freeSince", covered_since AS "coveredSince",
  metered_at AS "meteredAt"`;

const SEATS = 'coalesce(l.own_seats, p.seats)';
const LIMIT = `${SEATS} + coalesce(l.own_overdraft_seats, p.overdraft_seats)`;

/** More seats than any license has, so that one statement serves unlimited pools as well. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;

export function createPoolStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const create = sql.statement(
    'INSERT INTO lease_pools (license_id, metered_at) VALUES ($licenseId, $at) ON CONFLICT DO NOTHING',
  );
  const find = sql.statement<PoolRow>(`SELECT ${COLUMNS} FROM lease_pools WHERE license_id = $licenseId`);
  // The condition on `in_use` is what grants a seat: even a caller that has read an old row cannot exceed the limit.
  const change = sql.statement(`
    UPDATE lease_pools SET in_use = in_use + $taken, borrowed = $borrowed, queued = $queued, version = version + 1,
      exhausted = $exhausted, overdrawn = $overdrawn, free_since = $freeSince, covered_since = $coveredSince,
      metered_at = $meteredAt
    WHERE license_id = $licenseId AND (CAST($taken AS BIGINT) <= 0 OR in_use + $taken <= $limit)`);
  // A time ahead is that of a server whose clock differs a little, or of a clock that was set back since.
  const announce = sql.statement(`
    UPDATE lease_pools SET denials_announced_at = $at, denials_unannounced = 0
    WHERE license_id = $licenseId
      AND (denials_announced_at IS NULL OR abs(denials_announced_at - $at) >= $everyMs)`);
  const postpone = sql.statement(
    'UPDATE lease_pools SET denials_unannounced = denials_unannounced + $count WHERE license_id = $licenseId',
  );
  const unannounced = sql.statement<{ count: number }>(
    'SELECT denials_unannounced AS "count" FROM lease_pools WHERE license_id = $licenseId',
  );
  // The plus signs keep SQLite from reading all pools in the order of their IDs.
  const due = `
    SELECT license_id AS "licenseId" FROM lease_pools WHERE license_id > $after AND queued > 0
    UNION SELECT +license_id FROM lease_pools WHERE +license_id > $after AND free_since <= $calmBefore
    UNION SELECT +license_id FROM lease_pools WHERE +license_id > $after AND covered_since <= $calmBefore
    UNION SELECT +license_id FROM lease_pools WHERE +license_id > $after AND in_use > 0 AND metered_at < $meteredFrom
    UNION SELECT +license_id FROM lease_pools WHERE +license_id > $after AND in_use > 0 AND metered_at > $meteredTo`;
  // Pools whose announced state is outdated because their seats were raised or lowered. This reads every pool in use.
  const outdated = `
    SELECT o.license_id FROM lease_pools o JOIN licenses l ON l.id = o.license_id JOIN plans p ON p.id = l.plan_id
      WHERE o.license_id > $after AND o.in_use > 0 AND (
        coalesce(o.in_use >= ${LIMIT}, FALSE) <> (o.exhausted = 1 AND o.free_since IS NULL)
        OR coalesce(o.in_use > ${SEATS}, FALSE) <> (o.overdrawn = 1 AND o.covered_since IS NULL))`;
  const inOrder = (parts: string) => sql.statement<{ licenseId: number }>(`${parts} ORDER BY 1 LIMIT $limit`);
  const attention = inOrder(due);
  const attentionOfAll = inOrder(`${due} UNION ${outdated}`);

  const pending = sql.statement<{ licenseId: number }>(`
    SELECT license_id AS "licenseId" FROM lease_pools WHERE free_since IS NOT NULL
    UNION ALL SELECT license_id FROM lease_pools WHERE covered_since IS NOT NULL LIMIT 1`);

  const first = (licenseId: number) => find.first({ licenseId });

  /**
   * Locks the pool until the transaction ends.
   * @param at wall time, for a pool that is new
   * @param read what is decided on with the pool. Called after the wait for another server's lock, perhaps twice
   */
  async function lockAndRead<Read>(
    licenseId: number,
    at: number,
    read: () => Promise<Read>,
  ): Promise<[PoolRow, Read]> {
    const lock = async () => {
      await sql.lock('lease_pools', { license_id: licenseId });
      return together(first(licenseId), read());
    };
    const [known, readWithIt] = await lock();
    if (known) return [known, readWithIt];
    await create.run({ licenseId, at });
    const [pool, readAgain] = await lock();
    if (!pool) throw new Error(`license ${licenseId} has no pool`);
    return [pool, readAgain];
  }

  return {
    find: first,
    lock: async (licenseId: number, at: number): Promise<PoolRow> =>
      (await lockAndRead(licenseId, at, async () => {}))[0],
    lockAndRead,
    /**
     * Takes or frees seats, and writes the rest of the row.
     * @param limit null if unlimited
     * @returns false if the seats are not free; then nothing is changed
     */
    change: async (pool: PoolRow, taken: number, limit: number | null): Promise<boolean> =>
      (await change.run({ ...pool, taken, limit: limit ?? UNLIMITED })) === 1,
    /**
     * Whether denials of the license may be announced now, once in `everyMs` on all servers.
     * @returns how many have not been announced; null if it is too early, and `count` is remembered
     */
    async announceDenials(
      licenseId: number,
      count: number,
      at: number,
      everyMs: number,
    ): Promise<number | null> {
      const waiting = (await unannounced.first({ licenseId }))?.count ?? 0;
      if ((await announce.run({ licenseId, at, everyMs })) === 1) return waiting + count;
      await postpone.run({ licenseId, count });
      return null;
    },
    /** Whether a change of a pool waits to be announced. */
    hasPending: async (): Promise<boolean> => (await pending.first()) !== null,
    /**
     * Pools with something to do: clients that wait, a change of state to announce, usage to count.
     * @param calmBefore lease time
     * @param compares whether to look for pools whose seats were raised or lowered, too
     */
    async needAttention(
      after: number,
      { calmBefore, metered, compares, limit }: Attention,
    ): Promise<number[]> {
      const values = { after, calmBefore, meteredFrom: metered.from, meteredTo: metered.to, limit };
      const found = await (compares ? attentionOfAll : attention).all(values);
      return found.map(({ licenseId }) => licenseId);
    },
  };
}

export type PoolStore = ReturnType<typeof createPoolStore>;
