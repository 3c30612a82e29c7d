// All writes to deliveries and attempts: by changes, administrators, the dispatcher and retention. Each transition is a
// compare-and-set on the state, so that two servers, or a concurrent cancellation, never conflict.
import type { Sequelize } from 'sequelize';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { SqlDialect } from '#server/database/sql-dialect.ts';
import { type FailedFilter, failedConditions, IS_RETRIABLE } from './delivery-query.ts';
import type { Standing } from './dispatch-plan.ts';
import type { WebhookSecrets } from './webhook-secrets.ts';

/** What tells a claim from a later one of the same delivery, perhaps by another server. */
export interface Claim {
  id: number;
  leaseEndsAt: number;
}

/** A claimed attempt with everything needed to send it. */
export interface ClaimedDelivery extends Claim, WebhookSecrets {
  webhookId: number;
  /** Failed attempts in this cycle so far. */
  attempts: number;
  event: string;
  eventId: number;
  body: string;
  url: string;
  ca: string | null;
}

/** The stored outcome of an attempt. */
export interface AttemptResult {
  /** Epoch milliseconds. */
  startedAt: number;
  ms: number;
  delivered: boolean;
  status: number | null;
  errorClass: string | null;
  error: string | null;
  remoteAddress: string | null;
  /** The first 4 KiB of the reply. */
  reply: string;
}

export interface Outcome extends AttemptResult, Claim {
  webhookId: number;
  url: string;
  attempts: number;
  /** When to retry after a failed attempt; null after the last one. */
  retryAt: number | null;
}

interface WaitingWebhook {
  webhookId: number;
  /** The earliest due time among its deliveries. */
  dueAt: number;
  /** From its last delivery, by any server. */
  standing: Standing;
}

/**
 * With row locks, this waits for a concurrent deletion of the webhook and then leaves it out. Otherwise the deletion
 * would miss this delivery, and this statement the deletion.
 */
const queue = (isNew: string, keepRows: string) => `
  INSERT INTO deliveries (event_id, webhook_id, status, next_attempt_at, created_at)
  SELECT e.id, w.id, 'pending', e.created_at, e.created_at
  FROM events e JOIN webhooks w ON w.deleted_at IS NULL AND w.scope IN ('all', e.name)
  WHERE ${isNew} ORDER BY e.id, w.id
  ${keepRows}
  RETURNING id`;

/** For the same reason, before a statement that restarts deliveries. */
const keepLive = (keepRows: string) =>
  `SELECT id AS "id" FROM webhooks WHERE deleted_at IS NULL ORDER BY id ${keepRows}`;

/** Each webhook that is not paused, with the time of its first waiting delivery. One index seek each, regardless of queue length. */
const LIST_WAITING = `
  SELECT w.id AS "webhookId",
    CASE WHEN w.last_delivery_at IS NULL THEN 'untried' WHEN w.last_error IS NULL THEN 'working' ELSE 'failing' END
      AS "standing",
    (SELECT min(d.next_attempt_at) FROM deliveries d
     WHERE d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL) AS "dueAt"
  FROM webhooks w WHERE w.deleted_at IS NULL AND w.paused_at IS NULL`;

/** Index seeks for each webhook, regardless of queue length. */
const DUE_OF_EACH = `
  WHERE t.webhook_id = item.value AND t.next_attempt_at <= $now AND t.next_attempt_at IS NOT NULL
  ORDER BY t.next_attempt_at, t.id LIMIT $limit`;

/** A webhook may have been paused or deleted since it was listed. */
const selectDue = (firstOfEach: string) => `
  SELECT t.id AS "id", t.webhook_id AS "webhookId", t.attempts AS "attempts", e.name AS "event", e.id AS "eventId",
    e.body AS "body", w.url AS "url", w.ca AS "ca", w.secret_sealed AS "secretSealed",
    w.previous_secret_sealed AS "previousSecretSealed", w.overlap_ends_at AS "overlapEndsAt",
    w.older_secrets AS "olderSecrets"
  FROM ${firstOfEach} JOIN events e ON e.id = t.event_id
    JOIN webhooks w ON w.id = t.webhook_id AND w.deleted_at IS NULL AND w.paused_at IS NULL
  ORDER BY t.next_attempt_at, t.id`;

const claimAll = ({ isIn, readById }: SqlDialect) => `
  UPDATE deliveries ${readById} SET status = 'delivering', next_attempt_at = $leaseEndsAt
  WHERE ${isIn('id', 'ids')} AND status IN ('pending', 'delivering', 'retrying')`;

const OUTCOME = {
  id: 'BIGINT',
  startedAt: 'BIGINT',
  ms: 'BIGINT',
  flag: 'BIGINT',
  status: 'BIGINT',
  errorClass: 'TEXT',
  error: 'TEXT',
  remoteAddress: 'TEXT',
  reply: 'TEXT',
} as const;

const insertAttempts = (outcomes: string) => `
  INSERT INTO delivery_attempts
    (delivery_id, started_at, ms, delivered, status, error_class, error, remote_address, reply)
  SELECT o.id, o."startedAt", o.ms, o.flag, o.status, o."errorClass", o.error, o."remoteAddress", o.reply
  FROM ${outcomes}`;

const CLAIM = { id: 'BIGINT', leaseEndsAt: 'BIGINT' } as const;

/** The claim has not ended by a cancellation, nor its lease by another claim. */
const IS_CLAIMED = `deliveries.id = c.id AND deliveries.status = 'delivering'
    AND deliveries.next_attempt_at = c."leaseEndsAt"`;

const CONCLUSION = {
  ...CLAIM,
  status: 'TEXT',
  attempts: 'BIGINT',
  error: 'TEXT',
  retryAt: 'BIGINT',
} as const;

const conclude = (readById: string, conclusions: string) => `
  UPDATE deliveries ${readById}
  SET status = c.status, attempts = c.attempts, last_error = c.error, next_attempt_at = c."retryAt"
  FROM ${conclusions} WHERE ${IS_CLAIMED}`;

/** Returns claimed but unsent deliveries without counting an attempt. */
const RELEASED = `
  SET status = CASE WHEN attempts = 0 THEN 'pending' ELSE 'retrying' END, next_attempt_at = $now`;

const RELEASE_ALL = `UPDATE deliveries ${RELEASED} WHERE status = 'delivering'`;

const release = (readById: string, claims: string) =>
  `UPDATE deliveries ${readById} ${RELEASED} FROM ${claims} WHERE ${IS_CLAIMED}`;

const CANCEL = `
  UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL
  WHERE webhook_id = $webhookId AND status IN ('pending', 'delivering', 'retrying')`;

const COUNT_PRUNED = `
  INSERT INTO pruned_deliveries (status, count) VALUES ($status, $count)
  ON CONFLICT (status) DO UPDATE SET count = pruned_deliveries.count + excluded.count`;

function conclusionOf({ id, leaseEndsAt, delivered, attempts, error, retryAt }: Outcome) {
  const undelivered = retryAt === null ? 'failed' : 'retrying';
  const status = delivered ? 'delivered' : undelivered;
  return { id, leaseEndsAt, status, attempts: attempts + 1, error, retryAt };
}

export function createDeliveryStore(sequelize: Sequelize) {
  const sql = sqlOf(sequelize);
  const { isIn, keepRows, firstOfEach, jsonRows, readById } = sql.dialect;
  const queued = sql.statement(queue(isIn('e.id', 'eventIds'), keepRows));
  const kept = sql.statement(keepLive(keepRows));
  const waiting = sql.statement<Omit<WaitingWebhook, 'dueAt'> & { dueAt: number | null }>(LIST_WAITING);
  const due = sql.statement<Omit<ClaimedDelivery, 'leaseEndsAt'>>(
    selectDue(firstOfEach('webhookIds', 'deliveries', DUE_OF_EACH)),
  );
  const claimed = sql.statement(claimAll(sql.dialect));
  const attempted = sql.statement(insertAttempts(jsonRows('outcomes', 'o', OUTCOME)));
  const concluded = sql.statement(conclude(readById, jsonRows('conclusions', 'c', CONCLUSION)));
  const released = sql.statement(release(readById, jsonRows('claims', 'c', CLAIM)));
  const recorded = sql.statement(
    'SELECT id FROM delivery_attempts WHERE delivery_id = $id AND started_at = $startedAt',
  );

  return {
    /** Queues, for each event, one delivery for each webhook whose scope covers it. @returns their number */
    queue: async (eventIds: readonly number[]): Promise<number> => (await queued.all({ eventIds })).length,

    /** Cancels the deliveries of a webhook that is being deleted. */
    async cancel(webhookId: number): Promise<void> {
      await sql.run(CANCEL, { webhookId });
    },

    /**
     * Starts a new cycle for failed deliveries only: of several concurrent retries, one finds the delivery failed.
     * @returns the number of restarted deliveries
     */
    async restartFailed({ ids, ...filter }: FailedFilter, now: number): Promise<number> {
      await kept.all();
      const { sql: condition, bind } = failedConditions(filter);
      const selected = ids === undefined ? '' : ` AND ${isIn('id', 'ids')}`;
      return sql.run(
        `UPDATE deliveries SET status = 'pending', attempts = 0, next_attempt_at = $now
         WHERE ${IS_RETRIABLE} AND ${condition}${selected}`,
        { ...bind, ids, now },
      );
    },

    async listWaiting(): Promise<WaitingWebhook[]> {
      const rows = await waiting.all();
      return rows.filter((row): row is WaitingWebhook => row.dueAt !== null);
    },

    /**
     * Claims due deliveries until the lease ends.
     * @param plan how many for each webhook. They come in its order.
     */
    async claim(
      plan: ReadonlyMap<number, number>,
      now: number,
      leaseEndsAt: number,
    ): Promise<ClaimedDelivery[]> {
      const found: ClaimedDelivery[] = [];
      for (const [limit, entries] of Map.groupBy(plan, ([, count]) => count)) {
        const webhookIds = entries.map(([webhookId]) => webhookId);
        const rows = await due.all({ webhookIds, now, limit });
        found.push(...rows.map((row) => ({ ...row, leaseEndsAt })));
      }
      if (found.length > 0) await claimed.run({ ids: found.map(({ id }) => id), leaseEndsAt });
      const own = Map.groupBy(found, ({ webhookId }) => webhookId);
      return [...plan.keys()].flatMap((webhookId) => own.get(webhookId) ?? []);
    },

    async record(outcomes: readonly Outcome[]): Promise<void> {
      const rows = outcomes.map((outcome) => ({ ...outcome, flag: outcome.delivered ? 1 : 0 }));
      await attempted.run({ outcomes: JSON.stringify(rows) });
      await concluded.run({ conclusions: JSON.stringify(outcomes.map(conclusionOf)) });
    },

    /** Whether the outcome has been recorded, perhaps by a commit whose answer was lost. */
    isRecorded: async ({ id, startedAt }: Pick<Outcome, 'id' | 'startedAt'>): Promise<boolean> =>
      (await recorded.first({ id, startedAt })) !== null,

    async release(claims: readonly Claim[], now: number): Promise<void> {
      if (claims.length > 0) await released.run({ claims: JSON.stringify(claims), now });
    },

    /** After a crash of the only server, no delivery is in progress. */
    async releaseAll(now: number): Promise<void> {
      await sql.run(RELEASE_ALL, { now });
    },

    /** If the clock was set back, no delivery may wait longer than the longest retry delay. */
    async pullBack(latest: number, now: number): Promise<void> {
      await sql.run('UPDATE deliveries SET next_attempt_at = $now WHERE next_attempt_at > $latest', {
        now,
        latest,
      });
    },

    removeOldAttempts: removeOldest(sql, 'delivery_attempts', 'started_at'),

    removeAttemptsOf: (eventIds: readonly number[], limit: number): Promise<number> =>
      sql.run(
        `DELETE FROM delivery_attempts WHERE id IN (
           SELECT a.id FROM delivery_attempts a JOIN deliveries d ON d.id = a.delivery_id
           WHERE ${isIn('d.event_id', 'eventIds')} AND d.next_attempt_at IS NULL LIMIT $limit)`,
        { eventIds, limit },
      ),

    /** Counts the removed rows in `pruned_deliveries`, so that the statistics keep their totals. */
    async removeOf(eventIds: readonly number[], limit: number): Promise<number> {
      // Skips a delivery whose retry has started meanwhile: it has `next_attempt_at` set.
      const removed = await sql.select<{ status: string }>(
        `DELETE FROM deliveries WHERE next_attempt_at IS NULL AND id IN (
           SELECT id FROM deliveries WHERE ${isIn('event_id', 'eventIds')} ORDER BY id LIMIT $limit)
         RETURNING status AS "status"`,
        { eventIds, limit },
      );
      for (const [status, rows] of Map.groupBy(removed, (row) => row.status))
        await sql.run(COUNT_PRUNED, { status, count: rows.length });
      return removed.length;
    },
  };
}

export type DeliveryStore = ReturnType<typeof createDeliveryStore>;
