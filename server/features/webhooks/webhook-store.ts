import { Op, QueryTypes, type Sequelize } from 'sequelize';
import { forUpdate } from '#server/database/transaction.ts';
import { defineWebhook, type WebhookRow } from './webhook-model.ts';

export type Webhook = WebhookRow;

export function createWebhookStore(sequelize: Sequelize) {
  const webhooks = defineWebhook(sequelize);
  const find = async (id: number, lock = {}): Promise<Webhook | null> => {
    const row = await webhooks.findOne({ where: { id, deletedAt: null }, raw: true, ...lock });
    return row as unknown as Webhook | null;
  };
  return {
    find: (id: number) => find(id),
    findForChange: (id: number) => find(id, forUpdate()),
    /** Newest first, one more than `limit` if there are more. */
    async list(before: number | null, limit: number): Promise<Webhook[]> {
      const rows = await webhooks.findAll({
        where: { deletedAt: null, ...(before === null ? {} : { id: { [Op.lt]: before } }) },
        order: [['id', 'DESC']],
        limit: limit + 1,
        raw: true,
      });
      return rows as unknown as Webhook[];
    },
    async insert(webhook: Omit<WebhookRow, 'id'>): Promise<Webhook> {
      const created = await webhooks.create(webhook);
      return { ...webhook, id: created.get('id') as number };
    },
    async update(id: number, changes: Partial<Omit<WebhookRow, 'id'>>): Promise<void> {
      await webhooks.update(changes, { where: { id } });
    },
    /** Of a registration that goes: nothing of it is sent any more. */
    async cancelDeliveries(webhookId: number): Promise<void> {
      await sequelize.query(
        `UPDATE deliveries SET status = 'cancelled', next_attempt_at = NULL
         WHERE webhook_id = $webhookId AND status IN ('pending', 'delivering', 'retrying')`,
        { bind: { webhookId }, type: QueryTypes.UPDATE },
      );
    },
  };
}

export type WebhookStore = ReturnType<typeof createWebhookStore>;
