import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import type { ServiceMarkStore } from '#server/features/storage/service-mark-store.ts';

const NAME = 'first_run';
const HAS_LICENSES = 'SELECT 1 AS "found" FROM licenses LIMIT 1';

export function createFirstRunStore(sequelize: Sequelize, marks: ServiceMarkStore) {
  const sql = sqlOf(sequelize);
  return {
    isOver: async (): Promise<boolean> =>
      (await marks.find(NAME)) !== null || (await sql.selectFirst(HAS_LICENSES)) !== null,
    /** @returns false if it was already finished */
    finish: (now: number): Promise<boolean> => marks.setOnce(NAME, now),
  };
}

export type FirstRunStore = ReturnType<typeof createFirstRunStore>;
