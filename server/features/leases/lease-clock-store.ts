import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

/**
 * A longer time between two readings counts as downtime: no server ran, the database was away, or its clock was set.
 * Lease time does not include it.
 */
export const MAX_GAP_MS = 5000;

export function createLeaseClockStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  // Servers that tick together may come in any order, so a reading that is a little older changes nothing.
  const tick = sql.statement<{ leaseAt: number }>(
    `
    UPDATE lease_clock SET
      lease_at = lease_at + CASE WHEN t.at > seen_at AND t.at - seen_at <= $maxGapMs THEN t.at - seen_at ELSE 0 END,
      seen_at = CASE WHEN t.at <= seen_at AND seen_at - t.at <= $maxGapMs THEN seen_at ELSE t.at END
    FROM (SELECT ${sql.dialect.sharedClock('own')} AS at) t
    WHERE id = 1 RETURNING lease_at AS "leaseAt"`,
    // Every lease waits for it.
    { isShort: true },
  );
  const read = sql.statement<{ leaseAt: number }>(
    'SELECT lease_at AS "leaseAt" FROM lease_clock WHERE id = 1',
  );
  return {
    read: async (): Promise<number> => (await read.first())?.leaseAt ?? 0,
    /** Advances the shared lease time. @param own this server's monotonic clock @returns the lease time */
    async tick(own: number): Promise<number> {
      const row = await tick.first({ own, maxGapMs: MAX_GAP_MS });
      if (!row) throw new Error('the lease clock is missing');
      return row.leaseAt;
    },
  };
}

export type LeaseClockStore = ReturnType<typeof createLeaseClockStore>;
