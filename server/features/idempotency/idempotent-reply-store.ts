import { Op, type Sequelize } from 'sequelize';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import { defineIdempotentReply, type IdempotentReplyRow } from './idempotent-reply-model.ts';

export type ReplyKey = Pick<IdempotentReplyRow, 'idempotencyKey' | 'endpoint' | 'caller'>;

export function createIdempotentReplyStore(sequelize: Sequelize) {
  const replies = defineIdempotentReply(sequelize);
  return {
    async find(key: ReplyKey): Promise<IdempotentReplyRow | null> {
      return (await replies.findOne({
        where: { ...key },
        raw: true,
      })) as unknown as IdempotentReplyRow | null;
    },
    async insert(reply: Omit<IdempotentReplyRow, 'id'>): Promise<void> {
      await replies.create(reply);
    },
    removeOld: removeOldest(sqlOf(sequelize), 'idempotent_replies', 'created_at'),
    /** Makes room for a new reply under the same key. Retention removes all others. */
    async removeIfOlder(key: ReplyKey, createdAt: number): Promise<void> {
      await replies.destroy({ where: { ...key, createdAt: { [Op.lt]: createdAt } } });
    },
  };
}

export type IdempotentReplyStore = ReturnType<typeof createIdempotentReplyStore>;
