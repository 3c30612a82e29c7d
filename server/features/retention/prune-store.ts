// Removes records that are old enough. Every call removes at most `limit` rows, so that no transaction is long.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { RetentionKind } from './retention-contract.ts';

/** Where an event stands in the order of age. */
export interface EventPosition {
  /** Epoch milliseconds. */
  createdAt: number;
  id: number;
}

/** Tables whose rows nothing refers to, with the column that holds their age. */
const PLAIN_TABLES = {
  attempts: { table: 'delivery_attempts', age: 'started_at' },
  audit: { table: 'audit_entries', age: 'created_at' },
  idempotency: { table: 'idempotent_replies', age: 'created_at' },
  imports: { table: 'license_imports', age: 'finished_at' },
} as const satisfies Partial<Record<RetentionKind, { table: string; age: string }>>;

export type PlainKind = keyof typeof PLAIN_TABLES;

/** Pending, delivering and retrying deliveries have a next attempt; their events are still needed. */
const OLD_EVENTS = `
  SELECT e.created_at AS "createdAt", e.id AS "id" FROM events e
  WHERE e.created_at >= $createdAt AND (e.created_at > $createdAt OR e.id >= $id) AND e.created_at < $before
    AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id AND d.next_attempt_at IS NOT NULL)
  ORDER BY e.created_at, e.id LIMIT $limit`;

/** Each notice is sent once per license and term, however long the term is. */
const keepNotices = (ids: string) => `
  INSERT INTO license_notices (license_id, name, term)
  SELECT e.license_id, e.name, e.term FROM events e JOIN licenses l ON l.id = e.license_id
  WHERE e.id IN (${ids}) AND e.term >= l.term
  ON CONFLICT DO NOTHING`;

const dropFormerNotices = (ids: string) => `
  DELETE FROM license_notices WHERE license_id IN (
    SELECT license_id FROM events WHERE id IN (${ids}) AND term IS NOT NULL)
  AND term < (SELECT l.term FROM licenses l WHERE l.id = license_notices.license_id)`;

const listOf = (ids: readonly number[]): string => ids.map((id) => Math.trunc(id)).join(', ');

export function createPruneStore(sequelize: Sequelize) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown> = {}) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
  const write = (sql: string, bind: Record<string, unknown> = {}) =>
    sequelize.query(sql, { bind, type: QueryTypes.RAW });
  const remove = async (sql: string, bind: Record<string, unknown> = {}): Promise<number> =>
    (await sequelize.query(sql, { bind, type: QueryTypes.BULKDELETE })) as unknown as number;

  return {
    /** @param before epoch milliseconds */
    removePlain(kind: PlainKind, before: number, limit: number): Promise<number> {
      const { table, age } = PLAIN_TABLES[kind];
      return remove(
        `DELETE FROM ${table} WHERE id IN (
           SELECT id FROM ${table} WHERE ${age} < $before ORDER BY ${age}, id LIMIT $limit)`,
        { before, limit },
      );
    },

    /** Oldest first. @param from the first to look at */
    findOldEvents: (before: number, from: EventPosition, limit: number): Promise<EventPosition[]> =>
      select(OLD_EVENTS, { ...from, before, limit }),

    removeAttemptsOf: (eventIds: readonly number[], limit: number): Promise<number> =>
      remove(
        `DELETE FROM delivery_attempts WHERE id IN (
           SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
           WHERE d.event_id IN (${listOf(eventIds)}) AND d.next_attempt_at IS NULL LIMIT $limit)`,
        { limit },
      ),

    /** Counts what it removes in `pruned_deliveries`, so that the statistics keep their totals. */
    async removeDeliveriesOf(eventIds: readonly number[], limit: number): Promise<number> {
      // A retry that has begun since the events were found sets `next_attempt_at`.
      const removed = await select<{ status: string }>(
        `DELETE FROM deliveries WHERE next_attempt_at IS NULL AND id IN (
           SELECT id FROM deliveries WHERE event_id IN (${listOf(eventIds)}) ORDER BY id LIMIT $limit)
         RETURNING status AS "status"`,
        { limit },
      );
      for (const [status, rows] of Map.groupBy(removed, (row) => row.status)) {
        await write(
          `INSERT INTO pruned_deliveries (status, count) VALUES ($status, $count)
           ON CONFLICT (status) DO UPDATE SET count = pruned_deliveries.count + excluded.count`,
          { status, count: rows.length },
        );
      }
      return removed.length;
    },

    /** Those that have no delivery left. */
    async removeEvents(eventIds: readonly number[]): Promise<number> {
      const rows = await select<{ id: number }>(
        `SELECT e.id AS "id" FROM events e WHERE e.id IN (${listOf(eventIds)})
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.event_id = e.id)`,
      );
      if (rows.length === 0) return 0;
      const ids = listOf(rows.map(({ id }) => id));
      await write(keepNotices(ids));
      await write(dropFormerNotices(ids));
      return remove(`DELETE FROM events WHERE id IN (${ids})`);
    },

    /** Deleted webhooks without deliveries. */
    async findUnusedWebhooks(limit: number): Promise<number[]> {
      const rows = await select<{ id: number }>(
        `SELECT w.id AS "id" FROM webhooks w WHERE w.deleted_at IS NOT NULL
           AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id) ORDER BY w.id LIMIT $limit`,
        { limit },
      );
      return rows.map(({ id }) => id);
    },
    removeWebhooks: (ids: readonly number[]): Promise<number> =>
      remove(`DELETE FROM webhooks WHERE id IN (${listOf(ids)}) AND deleted_at IS NOT NULL`),

    async noteRun(kind: RetentionKind, at: number): Promise<void> {
      await write(
        `INSERT INTO retention_runs (kind, ran_at, removed, removed_total) VALUES ($kind, $at, 0, 0)
         ON CONFLICT (kind) DO UPDATE SET ran_at = excluded.ran_at, removed = 0`,
        { kind, at },
      );
    },
    /** Of the run that has been noted. */
    async noteRemoved(kind: RetentionKind, count: number): Promise<void> {
      await write(
        `UPDATE retention_runs SET removed = removed + $count, removed_total = removed_total + $count
         WHERE kind = $kind`,
        { kind, count },
      );
    },
  };
}

export type PruneStore = ReturnType<typeof createPruneStore>;
