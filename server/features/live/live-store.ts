import { QueryTypes, type Sequelize } from 'sequelize';

/** Something that was written down lately. */
export interface RecentRow {
  kind: 'audit' | 'notice' | 'attempt';
  id: number;
  /** Of an audit entry. */
  action: string | null;
}

/** Each by its primary key, so this costs the same however much there is. */
const recentSql = (count: number) => `
  SELECT 'audit' AS "kind", id AS "id", action AS "action"
  FROM (SELECT id, action FROM audit_entries ORDER BY id DESC LIMIT ${count}) a
  UNION ALL SELECT 'notice', id, NULL
  FROM (SELECT id, term FROM events ORDER BY id DESC LIMIT ${count}) e WHERE term IS NOT NULL
  UNION ALL SELECT 'attempt', id, NULL
  FROM (SELECT id FROM delivery_attempts ORDER BY id DESC LIMIT ${count}) d`;

export function createLiveStore(sequelize: Sequelize) {
  return {
    /** The newest `count` of each kind. */
    listRecent: (count: number): Promise<RecentRow[]> =>
      sequelize.query<RecentRow>(recentSql(Math.trunc(count)), { type: QueryTypes.SELECT }),
  };
}

export type LiveStore = ReturnType<typeof createLiveStore>;
