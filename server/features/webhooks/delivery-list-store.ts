// Lists deliveries for administrators.
import type { Sequelize } from 'sequelize';
import { allOf, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import { type FailedFilter, failedConditions, IS_RETRIABLE } from './delivery-query.ts';
import type { AttemptResult } from './delivery-store.ts';

export interface DeliveryView {
  id: number;
  event: string;
  webhookId: number;
  url: string;
  status: string;
  attempts: number;
  lastError: string | null;
  nextAttemptAt: number | null;
  createdAt: number;
}

export interface AttemptRow extends AttemptResult {
  id: number;
}

export interface DeliveryFilter {
  status?: string | undefined;
  webhookId?: number | undefined;
  event?: string | undefined;
  licenseId?: number | undefined;
  since?: number | undefined;
  /** Only failed deliveries that `restartFailed` would restart. */
  retriable: boolean;
  /** Keyset paging: ids below this one. */
  before: number | null;
  limit: number;
}

const COLUMNS = `
  d.id AS "id", e.name AS "event", d.webhook_id AS "webhookId", w.url AS "url", d.status AS "status",
  d.attempts AS "attempts", d.last_error AS "lastError", d.next_attempt_at AS "nextAttemptAt", d.created_at AS "createdAt"`;
const TABLES = 'deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id';
const MAX_ATTEMPTS_SHOWN = 100;
/** `IS_RETRIABLE`, written for `TABLES`. */
const IS_SHOWN_RETRIABLE = { sql: `d.status = 'failed' AND w.deleted_at IS NULL`, bind: {} };

const FILTERS = {
  status: 'd.status = $status',
  webhookId: 'd.webhook_id = $webhookId',
  event: 'e.name = $event',
  licenseId: 'e.license_id = $licenseId',
  since: 'd.created_at >= $since',
  before: 'd.id < $before',
};

const ATTEMPTS = `
  SELECT id AS "id", started_at AS "startedAt", ms AS "ms", delivered AS "delivered", status AS "status",
    error_class AS "errorClass", error AS "error", remote_address AS "remoteAddress", reply AS "reply"
  FROM delivery_attempts WHERE delivery_id = $deliveryId ORDER BY id DESC LIMIT ${MAX_ATTEMPTS_SHOWN}`;

const COUNT_FAILED = `SELECT count(*) AS "count" FROM deliveries WHERE ${IS_RETRIABLE}`;

const COUNT_RECENT = `
  SELECT count(CASE WHEN is_of_webhook AND status = 'delivered' THEN 1 END) AS "delivered",
    count(CASE WHEN is_of_webhook AND status IN ('delivered', 'retrying', 'failed') THEN 1 END) AS "attempted",
    count(*) AS "read", min(created_at) AS "oldest"
  FROM (
    SELECT status, created_at, webhook_id = $webhookId AND created_at >= $since AS is_of_webhook
    FROM deliveries ORDER BY id DESC LIMIT $most) newest`;

export function createDeliveryListStore(sequelize: Sequelize) {
  const { dialect, select, selectFirst } = sqlOf(sequelize);

  // Starts from the license's few events; otherwise SQLite would read every delivery with the status.
  const tablesOfLicense = `events e ${dialect.orderedJoin} deliveries d
    ON d.event_id = e.id JOIN webhooks w ON w.id = d.webhook_id`;

  return {
    find: (id: number): Promise<DeliveryView | null> =>
      selectFirst<DeliveryView>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE d.id = $id`, { id }),
    async bodyOf(id: number): Promise<string> {
      const text =
        'SELECT e.body AS "body" FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $id';
      return (await selectFirst<{ body: string }>(text, { id }))?.body ?? '';
    },
    /** Newest first. */
    async attemptsOf(deliveryId: number): Promise<AttemptRow[]> {
      const rows = await select<Omit<AttemptRow, 'delivered'> & { delivered: number }>(ATTEMPTS, {
        deliveryId,
      });
      return rows.map((row) => ({ ...row, delivered: row.delivered === 1 }));
    },
    /** Newest first. Returns one more than `limit` if there are more. */
    list({ retriable, limit, ...filter }: DeliveryFilter): Promise<DeliveryView[]> {
      const conditions = [...given(FILTERS, filter), ...(retriable ? [IS_SHOWN_RETRIABLE] : [])];
      const { sql, bind } = allOf(conditions);
      const tables = filter.licenseId === undefined ? TABLES : tablesOfLicense;
      return select(`SELECT ${COLUMNS} FROM ${tables} WHERE ${sql} ORDER BY d.id DESC LIMIT $limit`, {
        ...bind,
        limit: limit + 1,
      });
    },
    countFailed: async (): Promise<number> =>
      (await selectFirst<{ count: number }>(COUNT_FAILED))?.count ?? 0,
    /** Counts deliveries that a retry would restart. @param most counting stops at this number */
    async countRetriable(filter: Omit<FailedFilter, 'ids'>, most: number): Promise<number> {
      const { sql, bind } = failedConditions(filter);
      const row = await selectFirst<{ count: number }>(
        `SELECT count(*) AS "count" FROM (
           SELECT 1 FROM deliveries WHERE ${IS_RETRIABLE} AND ${sql} LIMIT $most) counted`,
        { ...bind, most },
      );
      return row?.count ?? 0;
    },
    /**
     * Counts the deliveries to a webhook since a time, among the newest `most` to all webhooks.
     * @returns `begin`: the time since which they are counted
     */
    async countRecent(webhookId: number, since: number, most: number) {
      const row = await selectFirst<{ delivered: number; attempted: number; read: number; oldest: number }>(
        COUNT_RECENT,
        { webhookId, since, most },
      );
      const { delivered, attempted, read, oldest } = row ?? {
        delivered: 0,
        attempted: 0,
        read: 0,
        oldest: 0,
      };
      return { delivered, attempted, begin: read < most ? since : Math.max(since, oldest) };
    },
  };
}

export type DeliveryListStore = ReturnType<typeof createDeliveryListStore>;
