import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

const FIND = 'SELECT set_at AS "setAt" FROM service_marks WHERE name = $name';

const SET = `
  INSERT INTO service_marks (name, set_at) VALUES ($name, $now)
  ON CONFLICT (name) DO UPDATE SET set_at = excluded.set_at`;

const SET_ONCE =
  'INSERT INTO service_marks (name, set_at) VALUES ($name, $now) ON CONFLICT (name) DO NOTHING';

/** What the service has to remember of itself, each mark with its moment in epoch milliseconds. */
export function createServiceMarkStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);

  /** @returns false if the mark was set before, and keeps its moment */
  const setOnce = async (name: string, now: number): Promise<boolean> =>
    (await sql.run(SET_ONCE, { name, now })) > 0;

  return {
    /** Null if it was never set. */
    find: async (name: string): Promise<number | null> =>
      (await sql.selectFirst<{ setAt: number }>(FIND, { name }))?.setAt ?? null,
    async set(name: string, now: number): Promise<void> {
      await sql.run(SET, { name, now });
    },
    setOnce,
    /** Changes pages that have to be written at the commit, but leaves no row. Runs in a transaction. */
    async probe(now: number): Promise<void> {
      await setOnce('storage_probe', now);
      await sql.run(`DELETE FROM service_marks WHERE name = 'storage_probe'`);
    },
  };
}

export type ServiceMarkStore = ReturnType<typeof createServiceMarkStore>;
