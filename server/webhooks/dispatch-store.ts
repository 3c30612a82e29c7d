// The dispatcher's side of deliveries: claiming what is due, and writing down what came of it. Each move is a
// compare-and-set on the state, so that two servers, or a delivery that was cancelled meanwhile, never cross.
import { QueryTypes, type Sequelize } from 'sequelize';
import { skipLocked } from '../database/transaction.ts';

/** An attempt that has been claimed, with all that sending it takes. */
export interface ClaimedDelivery {
  id: number;
  webhookId: number;
  /** Failed attempts of this cycle so far. */
  attempts: number;
  event: string;
  eventId: number;
  body: string;
  url: string;
  ca: string | null;
  secretSealed: string;
  previousSecretSealed: string | null;
  overlapEndsAt: number | null;
}

export interface Outcome {
  id: number;
  webhookId: number;
  /** Epoch milliseconds. */
  startedAt: number;
  ms: number;
  delivered: boolean;
  status: number | null;
  errorClass: string | null;
  error: string | null;
  remoteAddress: string | null;
  reply: string;
  attempts: number;
  /** Of a failed attempt: when to try again, or null if that was the last. */
  retryAt: number | null;
}

interface DueWebhook {
  webhookId: number;
  /** Of the delivery that has waited longest. */
  dueAt: number;
}

export function createDispatchStore(sequelize: Sequelize) {
  const select = <Row extends object>(sql: string, bind: Record<string, unknown>) =>
    sequelize.query<Row>(sql, { bind, type: QueryTypes.SELECT });
  const update = (sql: string, bind: Record<string, unknown>) =>
    sequelize.query(sql, { bind, type: QueryTypes.BULKUPDATE });

  return {
    /** Each registration with the moment of its first waiting delivery; one index seek each, however many wait. */
    async listWaiting(): Promise<DueWebhook[]> {
      const rows = await select<{ webhookId: number; dueAt: number | null }>(
        `SELECT w.id AS "webhookId",
           (SELECT min(d.next_attempt_at) FROM deliveries d
            WHERE d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL) AS "dueAt"
         FROM webhooks w WHERE w.deleted_at IS NULL`,
        {},
      );
      return rows.filter((row) => row.dueAt !== null) as DueWebhook[];
    },

    /** Due deliveries of one registration, marked as being delivered until the lease ends. */
    async claim(
      webhookId: number,
      now: number,
      limit: number,
      leaseEndsAt: number,
    ): Promise<ClaimedDelivery[]> {
      const due = await select<ClaimedDelivery>(
        `SELECT d.id AS "id", d.webhook_id AS "webhookId", d.attempts AS "attempts", e.name AS "event",
           e.id AS "eventId", e.body AS "body", w.url AS "url", w.ca AS "ca", w.secret_sealed AS "secretSealed",
           w.previous_secret_sealed AS "previousSecretSealed", w.overlap_ends_at AS "overlapEndsAt"
         FROM deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id
         WHERE d.webhook_id = $webhookId AND d.next_attempt_at <= $now AND d.next_attempt_at IS NOT NULL
         ORDER BY d.next_attempt_at, d.id LIMIT $limit ${skipLocked(sequelize, 'd')}`,
        { webhookId, now, limit },
      );
      if (due.length > 0) {
        const ids = due.map(({ id }) => Math.trunc(id)).join(', ');
        await update(
          `UPDATE deliveries SET status = 'delivering', next_attempt_at = $leaseEndsAt
           WHERE id IN (${ids}) AND status IN ('pending', 'delivering', 'retrying')`,
          { leaseEndsAt },
        );
      }
      return due;
    },

    async record(outcome: Outcome): Promise<void> {
      const { id, attempts, delivered, error, retryAt } = outcome;
      const status = delivered ? 'delivered' : retryAt === null ? 'failed' : 'retrying';
      await sequelize.query(
        `INSERT INTO delivery_attempts
           (delivery_id, started_at, ms, delivered, status, error_class, error, remote_address, reply)
         VALUES ($id, $startedAt, $ms, $delivered, $httpStatus, $errorClass, $error, $remoteAddress, $reply)`,
        {
          bind: {
            id,
            startedAt: outcome.startedAt,
            ms: outcome.ms,
            delivered: delivered ? 1 : 0,
            httpStatus: outcome.status,
            errorClass: outcome.errorClass,
            error,
            remoteAddress: outcome.remoteAddress,
            reply: outcome.reply,
          },
          type: QueryTypes.INSERT,
        },
      );
      await update(
        `UPDATE deliveries SET status = $status, attempts = $attempts, last_error = $error, next_attempt_at = $retryAt
         WHERE id = $id AND status = 'delivering'`,
        { id, status, attempts: attempts + 1, error, retryAt },
      );
    },

    async noteHealth(webhookId: number, at: number, error: string | null): Promise<void> {
      await update('UPDATE webhooks SET last_delivery_at = $at, last_error = $error WHERE id = $webhookId', {
        webhookId,
        at,
        error,
      });
    },

    /** Gives back what was claimed and not sent, without counting it. */
    async release(ids: readonly number[], now: number): Promise<void> {
      if (ids.length === 0) return;
      await update(
        `UPDATE deliveries SET status = CASE WHEN attempts = 0 THEN 'pending' ELSE 'retrying' END, next_attempt_at = $now
         WHERE id IN (${ids.map((id) => Math.trunc(id)).join(', ')}) AND status = 'delivering'`,
        { now },
      );
    },

    /** After a crash of the only server: whatever was being delivered is not any more. */
    async releaseAll(now: number): Promise<void> {
      await update(
        `UPDATE deliveries SET status = CASE WHEN attempts = 0 THEN 'pending' ELSE 'retrying' END, next_attempt_at = $now
         WHERE status = 'delivering'`,
        { now },
      );
    },

    /** A clock that was set back must not make anything wait for longer than any retry ever does. */
    async pullBack(latest: number, now: number): Promise<void> {
      await update('UPDATE deliveries SET next_attempt_at = $now WHERE next_attempt_at > $latest', {
        now,
        latest,
      });
    },

    async removeAttemptsBefore(startedAt: number): Promise<void> {
      await update('DELETE FROM delivery_attempts WHERE started_at < $startedAt', { startedAt });
    },
  };
}

export type DispatchStore = ReturnType<typeof createDispatchStore>;
