import type { Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';

/** A recently written row. */
export interface RecentRow {
  kind: 'audit' | 'notice' | 'attempt';
  id: number;
  /** Action of an audit entry. */
  action: string | null;
}

/** Reads by primary key, so the cost is independent of the table size. */
const RECENT = `
  SELECT 'audit' AS "kind", id AS "id", action AS "action"
  FROM (SELECT id, action FROM audit_entries ORDER BY id DESC LIMIT $count) a
  UNION ALL SELECT 'notice', id, NULL
  FROM (SELECT id, term FROM events ORDER BY id DESC LIMIT $count) e WHERE term IS NOT NULL
  UNION ALL SELECT 'attempt', id, NULL
  FROM (SELECT id FROM delivery_attempts ORDER BY id DESC LIMIT $count) d`;

export function createLiveStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  return {
    /** The newest `count` of each kind. */
    listRecent: (count: number): Promise<RecentRow[]> => sql.select(RECENT, { count: Math.trunc(count) }),
  };
}

export type LiveStore = ReturnType<typeof createLiveStore>;
