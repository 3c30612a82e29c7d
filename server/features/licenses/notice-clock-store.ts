import type { Sequelize } from 'sequelize';
import { preparedQuery } from '#server/database/prepared-query.ts';

const NAME = 'license_scan_clock';

/** Remembers the latest time that the license scan has gone by. */
export function createNoticeClockStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  return {
    /** Epoch milliseconds; null before the first scan. */
    async read(): Promise<number | null> {
      const sql = 'SELECT set_at AS "setAt" FROM service_marks WHERE name = $1';
      const [row] = await query<{ setAt: number }>(sql, [NAME]);
      return row?.setAt ?? null;
    },
    async write(now: number): Promise<void> {
      await query(
        'INSERT INTO service_marks (name, set_at) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET set_at = excluded.set_at',
        [NAME, now],
      );
    },
  };
}

export type NoticeClockStore = ReturnType<typeof createNoticeClockStore>;
