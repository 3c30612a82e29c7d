// The dispatcher's side of deliveries: claiming what is due, and writing down what came of it. Each move is a
// compare-and-set on the state, so that two servers, or a delivery that was cancelled meanwhile, never cross.
import { QueryTypes, type Sequelize } from 'sequelize';
import { preparedQuery } from '#server/database/prepared-query.ts';
import { skipLocked } from '#server/database/transaction.ts';
import type { Standing } from './dispatch-plan.ts';

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

interface WaitingWebhook {
  webhookId: number;
  /** Of the delivery that has waited longest. */
  dueAt: number;
  /** As its last delivery went, whichever server sent it. */
  standing: Standing;
}

/** Each registration with the moment of its first waiting delivery; one index seek each, however many wait. */
const LIST_WAITING = `
  SELECT w.id AS "webhookId",
    CASE WHEN w.last_delivery_at IS NULL THEN 'untried' WHEN w.last_error IS NULL THEN 'working' ELSE 'failing' END
      AS "standing",
    (SELECT min(d.next_attempt_at) FROM deliveries d
     WHERE d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL) AS "dueAt"
  FROM webhooks w WHERE w.deleted_at IS NULL`;

const SELECT_DUE = `
  SELECT d.id AS "id", d.webhook_id AS "webhookId", d.attempts AS "attempts", e.name AS "event", e.id AS "eventId",
    e.body AS "body", w.url AS "url", w.ca AS "ca", w.secret_sealed AS "secretSealed",
    w.previous_secret_sealed AS "previousSecretSealed", w.overlap_ends_at AS "overlapEndsAt"
  FROM deliveries d JOIN events e ON e.id = d.event_id JOIN webhooks w ON w.id = d.webhook_id
  WHERE d.webhook_id = $1 AND d.next_attempt_at <= $2 AND d.next_attempt_at IS NOT NULL
  ORDER BY d.next_attempt_at, d.id LIMIT $3`;

const CLAIM = `
  UPDATE deliveries SET status = 'delivering', next_attempt_at = $2
  WHERE id = $1 AND status IN ('pending', 'delivering', 'retrying')`;

const INSERT_ATTEMPT = `
  INSERT INTO delivery_attempts
    (delivery_id, started_at, ms, delivered, status, error_class, error, remote_address, reply)
  VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9)`;

const CONCLUDE = `
  UPDATE deliveries SET status = $2, attempts = $3, last_error = $4, next_attempt_at = $5
  WHERE id = $1 AND status = 'delivering'`;

const NOTE_HEALTH = 'UPDATE webhooks SET last_delivery_at = $2, last_error = $3 WHERE id = $1';

function conclusionOf({ delivered, retryAt }: Outcome): string {
  if (delivered) return 'delivered';
  return retryAt === null ? 'failed' : 'retrying';
}

export function createDispatchStore(sequelize: Sequelize) {
  const query = preparedQuery(sequelize);
  const update = (sql: string, bind: Record<string, unknown>) =>
    sequelize.query(sql, { bind, type: QueryTypes.BULKUPDATE });

  return {
    async listWaiting(): Promise<WaitingWebhook[]> {
      const rows = await query<Omit<WaitingWebhook, 'dueAt'> & { dueAt: number | null }>(LIST_WAITING, []);
      return rows.filter((row): row is WaitingWebhook => row.dueAt !== null);
    },

    /** Due deliveries of one registration, marked as being delivered until the lease ends. */
    async claim(
      webhookId: number,
      now: number,
      limit: number,
      leaseEndsAt: number,
    ): Promise<ClaimedDelivery[]> {
      const sql = `${SELECT_DUE} ${skipLocked(sequelize, 'd')}`;
      const due = await query<ClaimedDelivery>(sql, [webhookId, now, limit]);
      for (const { id } of due) await query(CLAIM, [id, leaseEndsAt]);
      return due;
    },

    async record(outcome: Outcome): Promise<void> {
      const { id, error, attempts } = outcome;
      await query(INSERT_ATTEMPT, [
        id,
        outcome.startedAt,
        outcome.ms,
        outcome.delivered ? 1 : 0,
        outcome.status,
        outcome.errorClass,
        error,
        outcome.remoteAddress,
        outcome.reply,
      ]);
      await query(CONCLUDE, [id, conclusionOf(outcome), attempts + 1, error, outcome.retryAt]);
    },

    async noteHealth(webhookId: number, at: number, error: string | null): Promise<void> {
      await query(NOTE_HEALTH, [webhookId, at, error]);
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
  };
}

export type DispatchStore = ReturnType<typeof createDispatchStore>;
