import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { sqlOf } from '#server/database/sql.ts';
import { forUpdate } from '#server/database/transaction.ts';
import { defineWebhook, type WebhookRow } from './webhook-model.ts';

export type Webhook = WebhookRow;

/** The outcome of a webhook's newest delivery. */
export interface WebhookHealth {
  id: number;
  /** Where it was sent. What is known about the health of this receiver does not hold for another one. */
  url: string;
  /** Epoch milliseconds. */
  at: number;
  /** Null if it was delivered. */
  error: string | null;
}

const HEALTH = { id: 'BIGINT', url: 'TEXT', at: 'BIGINT', error: 'TEXT' } as const;

const noteHealth = (healths: string) => `
  UPDATE webhooks SET last_delivery_at = h.at, last_error = h.error FROM ${healths}
  WHERE webhooks.id = h.id AND webhooks.url = h.url`;

const FIND_UNUSED = `
  SELECT w.id AS "id" FROM webhooks w WHERE w.deleted_at IS NOT NULL
    AND NOT EXISTS (SELECT 1 FROM deliveries d WHERE d.webhook_id = w.id) ORDER BY w.id LIMIT 1`;

export function createWebhookStore(sequelize: Sequelize) {
  const webhooks = defineWebhook(sequelize);
  const sql = sqlOf(sequelize);
  const health = sql.statement(noteHealth(sql.dialect.jsonRows('healths', 'h', HEALTH)));
  const live = `SELECT ${modelColumns(webhooks)} FROM webhooks WHERE deleted_at IS NULL`;
  const byId = sql.statement<Webhook>(`${live} AND id = $id`);
  const listed = sql.statement<Webhook>(`${live} AND id < $before ORDER BY id DESC LIMIT $limit`);
  return {
    find: (id: number) => byId.first({ id }),
    async findForChange(id: number): Promise<Webhook | null> {
      const row = await webhooks.findOne({ where: { id, deletedAt: null }, raw: true, ...forUpdate() });
      return row as unknown as Webhook | null;
    },
    /** Newest first. Returns one more than `limit` if there are more. */
    list: (before: number | null, limit: number): Promise<Webhook[]> =>
      listed.all({ before: before ?? Number.MAX_SAFE_INTEGER, limit: limit + 1 }),
    async insert(webhook: Omit<WebhookRow, 'id'>): Promise<Webhook> {
      const created = await webhooks.create(webhook);
      return { ...webhook, id: created.get('id') as number };
    },
    async update(id: number, changes: Partial<Omit<WebhookRow, 'id'>>): Promise<void> {
      await webhooks.update(changes, { where: { id } });
    },
    /** @param url the tested one: what is found out about it does not hold for another one */
    async markTested(
      { id, url }: Pick<WebhookRow, 'id' | 'url'>,
      result: Pick<WebhookRow, 'lastTestAt' | 'lastTestError'>,
    ): Promise<void> {
      await webhooks.update(result, { where: { id, url } });
    },
    /** Locks them in the order of their IDs, as every server does. */
    async noteHealth(healths: readonly WebhookHealth[]): Promise<void> {
      await sql.lock('webhooks', { id: healths.map(({ id }) => id) }, 'NO KEY UPDATE');
      await health.run({ healths: JSON.stringify(healths) });
    },
    /** Finds a deleted webhook without deliveries. */
    findUnused: async (): Promise<number | null> =>
      (await sql.selectFirst<{ id: number }>(FIND_UNUSED))?.id ?? null,
    /** @returns the number of removed rows: one, or none if another server was first */
    removeDeleted: (id: number): Promise<number> =>
      sql.run('DELETE FROM webhooks WHERE id = $id AND deleted_at IS NOT NULL', { id }),
  };
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;
