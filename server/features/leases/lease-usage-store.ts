import type { Sequelize } from 'sequelize';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';

/** One hour of a license's seats. */
export interface UsageRow {
  licenseId: number;
  /** The start of the hour in epoch milliseconds. */
  hour: number;
  peak: number;
  /** The most seats that were wanted at once; at least the peak, if a client was refused or had to wait. */
  needed: number;
  /** Seats in use times milliseconds. */
  seatMs: number;
  denied: number;
  queued: number;
}

export function createLeaseUsageStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const add = sql.statement(`
    INSERT INTO lease_usage (license_id, hour, peak, needed, seat_ms, denied, queued)
    VALUES ($licenseId, $hour, $peak, $needed, $seatMs, $denied, $queued)
    ON CONFLICT (license_id, hour) DO UPDATE SET
      peak = CASE WHEN excluded.peak > lease_usage.peak THEN excluded.peak ELSE lease_usage.peak END,
      needed = CASE WHEN excluded.needed > lease_usage.needed THEN excluded.needed ELSE lease_usage.needed END,
      seat_ms = lease_usage.seat_ms + excluded.seat_ms, denied = lease_usage.denied + excluded.denied,
      queued = lease_usage.queued + excluded.queued`);
  // Refusals and waits did happen, so they stay counted. The seats that they needed were not needed in these hours.
  const forget = sql.statement(
    'UPDATE lease_usage SET peak = 0, needed = 0, seat_ms = 0 WHERE license_id = $licenseId AND hour >= $from',
  );
  return {
    /** Forgets seats that were counted for hours that have not begun, by a clock that was ahead. @param from the first one */
    async forget(licenseId: number, from: number): Promise<void> {
      await forget.run({ licenseId, from });
    },
    /** Adds to an hour; its peak becomes the larger one. */
    async add(usage: UsageRow): Promise<void> {
      await add.run({ ...usage });
    },
    /** Hours from `from` to before `to`, oldest first. */
    list: (licenseId: number, from: number, to: number): Promise<UsageRow[]> =>
      sql.select<UsageRow>(
        `SELECT license_id AS "licenseId", hour AS "hour", peak AS "peak", needed AS "needed", seat_ms AS "seatMs", denied AS "denied",
           queued AS "queued"
         FROM lease_usage WHERE license_id = $licenseId AND hour >= $from AND hour < $to ORDER BY hour`,
        { licenseId, from, to },
      ),
    removeOld: removeOldest(sql, 'lease_usage', 'hour'),
  };
}

export type LeaseUsageStore = ReturnType<typeof createLeaseUsageStore>;
