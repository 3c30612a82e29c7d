// Deliveries as administrators look at them and set them going again; sending them is dispatch-store's.
import { QueryTypes, type Sequelize } from 'sequelize';

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

export interface AttemptRow {
  id: number;
  startedAt: number;
  ms: number;
  delivered: boolean;
  status: number | null;
  errorClass: string | null;
  error: string | null;
  remoteAddress: string | null;
  /** The first 4 KiB of the answer. */
  reply: string;
}

export interface DeliveryFilter {
  status?: string | undefined;
  webhookId?: number | undefined;
  event?: string | undefined;
  licenseId?: number | undefined;
  since?: number | undefined;
  /** Only those that failed and that `restartFailed` would start again. */
  retriable: boolean;
  /** Keyset paging: ids below this one. */
  before: number | null;
  limit: number;
}

export interface FailedFilter {
  ids?: number[] | undefined;
  webhookId?: number | undefined;
  since?: number | undefined;
}

const COLUMNS = `
  d.id AS "id", e.name AS "event", d.webhook_id AS "webhookId", w.url AS "url", d.status AS "status",
  d.attempts AS "attempts", d.last_error AS "lastError", d.next_attempt_at AS "nextAttemptAt", d.created_at AS "createdAt"`;
const TABLES = 'deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id';
const MAX_ATTEMPTS_SHOWN = 100;

/** Conditions of those that are given. */
function conditionsOf(conditions: Record<string, { sql: string; value: unknown }>) {
  const given = Object.entries(conditions).filter(([, { value }]) => value !== undefined && value !== null);
  return {
    sql: given.map(([, { sql }]) => ` AND ${sql}`).join(''),
    bind: Object.fromEntries(given.map(([name, { value }]) => [name, value])),
  };
}

/** What a retry starts again: nothing is sent for a registration that is gone. */
const RETRIABLE = `status = 'failed' AND webhook_id IN (SELECT id FROM webhooks WHERE deleted_at IS NULL)`;
/** The same among `TABLES`. */
const IS_RETRIABLE = `d.status = 'failed' AND w.deleted_at IS NULL`;

function failedConditions({ webhookId, since }: Omit<FailedFilter, 'ids'>) {
  return conditionsOf({
    webhookId: { sql: 'webhook_id = $webhookId', value: webhookId },
    since: { sql: 'created_at >= $since', value: since },
  });
}

export function createDeliveryStore(sequelize: Sequelize) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown>) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });

  // By its few events: SQLite keeps this order, and left to itself would read every delivery of a status.
  const tablesOfLicense = `events e ${sequelize.getDialect() === 'sqlite' ? 'CROSS JOIN' : 'JOIN'} deliveries d
    ON d.event_id = e.id JOIN webhooks w ON w.id = d.webhook_id`;

  return {
    async find(id: number): Promise<DeliveryView | null> {
      const [row] = await select<DeliveryView>(`SELECT ${COLUMNS} FROM ${TABLES} WHERE d.id = $id`, { id });
      return row ?? null;
    },
    async bodyOf(id: number): Promise<string> {
      const sql =
        'SELECT e.body AS "body" FROM deliveries d JOIN events e ON e.id = d.event_id WHERE d.id = $id';
      const [row] = await select<{ body: string }>(sql, { id });
      return row?.body ?? '';
    },
    /** Newest first. */
    async attemptsOf(deliveryId: number): Promise<AttemptRow[]> {
      const rows = await select<Omit<AttemptRow, 'delivered'> & { delivered: number }>(
        `SELECT id AS "id", started_at AS "startedAt", ms AS "ms", delivered AS "delivered", status AS "status",
           error_class AS "errorClass", error AS "error", remote_address AS "remoteAddress", reply AS "reply"
         FROM delivery_attempts WHERE delivery_id = $deliveryId ORDER BY id DESC LIMIT ${MAX_ATTEMPTS_SHOWN}`,
        { deliveryId },
      );
      return rows.map((row) => ({ ...row, delivered: row.delivered === 1 }));
    },
    /** Newest first, one more than `limit` if there are more. */
    list(filter: DeliveryFilter): Promise<DeliveryView[]> {
      const { status, webhookId, event, licenseId, since, retriable, before, limit } = filter;
      const conditions = conditionsOf({
        status: { sql: 'd.status = $status', value: status },
        webhookId: { sql: 'd.webhook_id = $webhookId', value: webhookId },
        event: { sql: 'e.name = $event', value: event },
        licenseId: { sql: 'e.license_id = $licenseId', value: licenseId },
        since: { sql: 'd.created_at >= $since', value: since },
        before: { sql: 'd.id < $before', value: before },
      });
      const tables = licenseId === undefined ? TABLES : tablesOfLicense;
      return select(
        `SELECT ${COLUMNS} FROM ${tables} WHERE ${retriable ? IS_RETRIABLE : '1 = 1'}${conditions.sql}
         ORDER BY d.id DESC LIMIT $limit`,
        { ...conditions.bind, limit: limit + 1 },
      );
    },
    /** Those that a retry would start again, up to `most`. */
    async countRetriable(filter: Omit<FailedFilter, 'ids'>, most: number): Promise<number> {
      const conditions = failedConditions(filter);
      const [row] = await select<{ count: number }>(
        `SELECT count(*) AS "count" FROM (
           SELECT 1 FROM deliveries WHERE ${RETRIABLE}${conditions.sql} LIMIT $most) counted`,
        { ...conditions.bind, most },
      );
      return row?.count ?? 0;
    },
    /**
     * Starts a fresh cycle for those that have failed, and for nothing else: of twenty that press at once, one finds
     * the delivery failed.
     * @returns how many were
     */
    async restartFailed({ ids, ...filter }: FailedFilter, now: number): Promise<number> {
      const conditions = failedConditions(filter);
      const selected = ids === undefined ? '' : ` AND id IN (${ids.map((id) => Math.trunc(id)).join(', ')})`;
      return sequelize.query(
        `UPDATE deliveries SET status = 'pending', attempts = 0, next_attempt_at = $now
         WHERE ${RETRIABLE}${conditions.sql}${selected}`,
        { bind: { ...conditions.bind, now }, type: QueryTypes.BULKUPDATE },
      );
    },
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
