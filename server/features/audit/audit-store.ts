import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { allOf, type Condition, given } from '#server/database/condition.ts';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import { type AuditRow, defineAudit } from './audit-model.ts';

export interface AuditFilter {
  actor?: string | undefined;
  /** `license.revoked`, or `license.` for all license actions. */
  action?: string | undefined;
  subject?: string | undefined;
  /** Epoch milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
  /** The prefix of a request ID. */
  requestId?: string | undefined;
}

/** A filter with the facts that the database supplied before the first page. */
export interface AuditSelection {
  filter: AuditFilter;
  /** Exact actions; undefined for any. */
  actions: string[] | undefined;
  /** IDs of the entries between the two times. */
  ids: { first: number; last: number } | undefined;
}

/** Lists distinct actions with one index step each. */
const LIST_ACTIONS = `
  WITH RECURSIVE known(action) AS (
    SELECT min(action) FROM audit_entries
    UNION ALL
    SELECT (SELECT min(e.action) FROM audit_entries e WHERE e.action > known.action)
    FROM known WHERE known.action IS NOT NULL)
  SELECT action AS "action" FROM known WHERE action IS NOT NULL`;

/** Sorts after every character of a request ID. */
const AFTER_ALL = '~';

function timeConditions({ from, to }: AuditFilter): Condition[] {
  return given({ from: 'created_at >= $from', to: 'created_at < $to' }, { from, to });
}

export function createAuditStore(sequelize: Sequelize) {
  const entries = defineAudit(sequelize);
  const sql = sqlOf(sequelize);
  const { bytewise } = sql.dialect;
  const columns = modelColumns(entries);

  /** In alphabetical order. */
  async function listActions(): Promise<string[]> {
    const rows = await sql.select<{ action: string }>(LIST_ACTIONS);
    return rows.map(({ action }) => action);
  }

  /** IDs and times ascend together, except where the clock was set back. No entry may be lost because of that. */
  async function idsBetween(filter: AuditFilter): Promise<AuditSelection['ids']> {
    const conditions = timeConditions(filter);
    if (conditions.length === 0) return undefined;
    const where = allOf(conditions);
    const row = await sql.selectFirst<{ first: number | null; last: number | null }>(
      `SELECT min(id) AS "first", max(id) AS "last" FROM audit_entries WHERE ${where.sql}`,
      where.bind,
    );
    return { first: row?.first ?? 0, last: row?.last ?? -1 };
  }

  function conditionsOf({ filter, ids }: AuditSelection, before: number | null): Condition[] {
    const { actor, subject, requestId } = filter;
    const plain = { before: 'id < $before', actor: 'actor_name = $actor', subject: 'subject = $subject' };
    return [
      ...given(plain, { before, actor, subject }),
      ...(ids === undefined ? [] : [{ sql: 'id BETWEEN $first AND $last', bind: ids }]),
      // The plus keeps SQLite from using the index of times, whose entries would have to be sorted.
      ...timeConditions(filter).map((condition) => ({ ...condition, sql: `+${condition.sql}` })),
      ...(requestId === undefined
        ? []
        : [
            {
              sql: `request_id ${bytewise} >= $requestId AND request_id ${bytewise} < $requestIdEnd`,
              bind: { requestId, requestIdEnd: requestId + AFTER_ALL },
            },
          ]),
    ];
  }

  return {
    insert: sql.insertLater(entries),
    listActions,
    insertAll: sql.insertAll(entries, ['id']),
    removeOld: removeOldest(sql, 'audit_entries', 'created_at'),

    find: (id: number): Promise<AuditRow | null> =>
      sql.selectFirst(`SELECT ${columns} FROM audit_entries WHERE id = $id`, { id }),

    async prepare(filter: AuditFilter): Promise<AuditSelection> {
      const { action } = filter;
      const all = action?.endsWith('.')
        ? (await listActions()).filter((name) => name.startsWith(action))
        : undefined;
      return {
        filter,
        actions: all ?? (action === undefined ? undefined : [action]),
        ids: await idsBetween(filter),
      };
    },

    /**
     * Newest first. Returns one more than `limit` if there are more. @param before keyset paging: IDs below this one
     */
    async list(selection: AuditSelection, before: number | null, limit: number): Promise<AuditRow[]> {
      if (selection.actions?.length === 0) return [];
      const conditions = conditionsOf(selection, before);
      const newest = (...further: Condition[]) =>
        `SELECT ${columns} FROM audit_entries WHERE ${allOf([...conditions, ...further]).sql}
         ORDER BY id DESC LIMIT $limit`;
      const actions = selection.actions ?? [];
      // Reads the newest entries of each action by its index and merges them. Selecting a whole noun in one step would
      // sort all of its entries.
      const each = actions.map(
        (_, index) => `SELECT * FROM (${newest({ sql: `action = $action${index}`, bind: {} })}) a${index}`,
      );
      const text =
        each.length === 0 ? newest() : `${each.join(' UNION ALL ')} ORDER BY "id" DESC LIMIT $limit`;
      return sql.select<AuditRow>(text, {
        limit: limit + 1,
        ...allOf(conditions).bind,
        ...Object.fromEntries(actions.map((action, index) => [`action${index}`, action])),
      });
    },
  };
}

export type AuditStore = ReturnType<typeof createAuditStore>;
