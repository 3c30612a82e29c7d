import { randomUUID } from 'node:crypto';
import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

const FIND = 'SELECT set_at AS "setAt" FROM service_marks WHERE name = $name';

const SET = `
  INSERT INTO service_marks (name, set_at) VALUES ($name, $now)
  ON CONFLICT (name) DO UPDATE SET set_at = excluded.set_at`;

const SET_ONCE =
  'INSERT INTO service_marks (name, set_at) VALUES ($name, $now) ON CONFLICT (name) DO NOTHING';

/** One-time facts about the service, each with the time in epoch milliseconds. */
export function createServiceMarkStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);

  /** @returns false if the mark was already set; its time is kept */
  const setOnce = async (name: string, now: number): Promise<boolean> =>
    (await sql.run(SET_ONCE, { name, now })) > 0;

  return {
    /** Null if it is not set. */
    find: async (name: string): Promise<number | null> =>
      (await sql.selectFirst<{ setAt: number }>(FIND, { name }))?.setAt ?? null,
    async set(name: string, now: number): Promise<void> {
      await sql.run(SET, { name, now });
    },
    setOnce,
    /** Changes pages that must be written at the commit, but leaves no row. Runs in a transaction. */
    async probe(now: number): Promise<void> {
      // A name that no other probe has: one that was cut off in the middle would keep its row locked.
      const name = `storage_probe ${randomUUID()}`;
      await setOnce(name, now);
      await sql.run('DELETE FROM service_marks WHERE name = $name', { name });
    },
  };
}

export type ServiceMarkStore = ReturnType<typeof createServiceMarkStore>;
