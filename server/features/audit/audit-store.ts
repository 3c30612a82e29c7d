import { QueryTypes, type Sequelize } from 'sequelize';
import { insertAllInto, insertInto } from '#server/database/insert-row.ts';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { type AuditRow, defineAudit } from './audit-model.ts';

export interface AuditFilter {
  actor?: string | undefined;
  /** `license.revoked`, or `license.` for all that is done to licenses. */
  action?: string | undefined;
  subject?: string | undefined;
  /** Epoch milliseconds. */
  from?: number | undefined;
  to?: number | undefined;
  /** The beginning of a request's id. */
  requestId?: string | undefined;
}

/** A filter with what the database was asked for ahead of the first page. */
export interface AuditSelection {
  filter: AuditFilter;
  /** Exact ones; undefined: any. */
  actions: string[] | undefined;
  /** Of what lies between the moments. */
  ids: { first: number; last: number } | undefined;
}

const COLUMNS = `
  id AS "id", created_at AS "createdAt", actor_kind AS "actorKind", actor_name AS "actorName", action AS "action",
  subject AS "subject", before_state AS "beforeState", after_state AS "afterState", request_id AS "requestId"`;

/** Each action there is, by one step of its index. */
const LIST_ACTIONS = `
  WITH RECURSIVE known(action) AS (
    SELECT min(action) FROM audit_entries
    UNION ALL
    SELECT (SELECT min(e.action) FROM audit_entries e WHERE e.action > known.action)
    FROM known WHERE known.action IS NOT NULL)
  SELECT action AS "action" FROM known WHERE action IS NOT NULL`;

/** Behind every character of a request's id. */
const AFTER_ALL = '~';

interface Condition {
  sql: string;
  bind: Record<string, unknown>;
}

function timeConditions({ from, to }: AuditFilter): Condition[] {
  return [
    ...(from === undefined ? [] : [{ sql: 'created_at >= $from', bind: { from } }]),
    ...(to === undefined ? [] : [{ sql: 'created_at < $to', bind: { to } }]),
  ];
}

export function createAuditStore(sequelize: Sequelize) {
  const entries = defineAudit(sequelize);
  const select = <Row extends object>(sql: string, bind: object) =>
    sequelize.query<Row>(sql, { bind: bind as Record<string, unknown>, type: QueryTypes.SELECT });
  /** So that the beginning of a text is a range of its index. */
  const bytewise = sequelize.getDialect() === 'postgres' ? 'COLLATE "C"' : 'COLLATE BINARY';

  /** In alphabetical order. */
  async function listActions(): Promise<string[]> {
    const rows = await select<{ action: string }>(LIST_ACTIONS, {});
    return rows.map(({ action }) => action);
  }

  /** Ids and moments go together but where a clock was set back, which no entry may be lost by. */
  async function idsBetween(filter: AuditFilter): Promise<AuditSelection['ids']> {
    const conditions = timeConditions(filter);
    if (conditions.length === 0) return undefined;
    const [row] = await select<{ first: number | null; last: number | null }>(
      `SELECT min(id) AS "first", max(id) AS "last" FROM audit_entries
       WHERE ${conditions.map(({ sql }) => sql).join(' AND ')}`,
      Object.assign({}, ...conditions.map(({ bind }) => bind)) as object,
    );
    return { first: row?.first ?? 0, last: row?.last ?? -1 };
  }

  function conditionsOf({ filter, ids }: AuditSelection, before: number | null): Condition[] {
    const { actor, subject, requestId } = filter;
    return [
      ...(before === null ? [] : [{ sql: 'id < $before', bind: { before } }]),
      ...(ids === undefined ? [] : [{ sql: 'id BETWEEN $first AND $last', bind: ids }]),
      // The plus keeps the index of moments out of it, whose entries would have to be sorted.
      ...timeConditions(filter).map(({ sql, bind }) => ({ sql: `+${sql}`, bind })),
      ...(actor === undefined ? [] : [{ sql: 'actor_name = $actor', bind: { actor } }]),
      ...(subject === undefined ? [] : [{ sql: 'subject = $subject', bind: { subject } }]),
      ...(requestId === undefined
        ? []
        : [
            {
              sql: `request_id ${bytewise} >= $requestId AND request_id ${bytewise} < $requestIdEnd`,
              bind: { requestId, requestIdEnd: requestId + AFTER_ALL },
            },
          ]),
    ] as Condition[];
  }

  return {
    insert: insertInto(preparedQuery(sequelize), entries),
    listActions,
    insertAll: insertAllInto(preparedQuery(sequelize), entries, ['id']),

    async find(id: number): Promise<AuditRow | null> {
      const [row] = await select<AuditRow>(`SELECT ${COLUMNS} FROM audit_entries WHERE id = $id`, { id });
      return row ?? null;
    },

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

    /** Newest first, one more than `limit` if there are more. @param before keyset paging: ids below this one */
    async list(selection: AuditSelection, before: number | null, limit: number): Promise<AuditRow[]> {
      if (selection.actions?.length === 0) return [];
      const conditions = conditionsOf(selection, before);
      const newest = (...further: string[]) => {
        const where = [...conditions.map(({ sql }) => sql), ...further].join(' AND ');
        return `SELECT ${COLUMNS} FROM audit_entries ${where ? `WHERE ${where}` : ''} ORDER BY id DESC LIMIT $limit`;
      };
      const actions = selection.actions ?? [];
      // The newest of each action by its index, and of these the newest: a whole noun at once would be sorted.
      const each = actions.map(
        (_, index) => `SELECT * FROM (${newest(`action = $action${index}`)}) a${index}`,
      );
      const sql =
        each.length === 0 ? newest() : `${each.join(' UNION ALL ')} ORDER BY "id" DESC LIMIT $limit`;
      return select<AuditRow>(
        sql,
        Object.assign(
          { limit: limit + 1 },
          ...conditions.map(({ bind }) => bind),
          Object.fromEntries(actions.map((action, index) => [`action${index}`, action])),
        ) as object,
      );
    },
  };
}

export type AuditStore = ReturnType<typeof createAuditStore>;
