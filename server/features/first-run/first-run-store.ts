import type { Sequelize } from 'sequelize';
import { preparedQuery } from '#server/database/prepared-query.ts';

const NAME = 'first_run';

const IS_OVER = `
  SELECT 1 AS "over"
  WHERE EXISTS (SELECT 1 FROM licenses) OR EXISTS (SELECT 1 FROM service_marks WHERE name = $1)`;

const FINISH = `
  INSERT INTO service_marks (name, set_at) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING RETURNING name AS "name"`;

export function createFirstRunStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  return {
    isOver: async (): Promise<boolean> => (await query(IS_OVER, [NAME])).length > 0,
    /** @returns false if it was finished before */
    finish: async (now: number): Promise<boolean> => (await query(FINISH, [NAME, now])).length > 0,
  };
}

export type FirstRunStore = ReturnType<typeof createFirstRunStore>;
