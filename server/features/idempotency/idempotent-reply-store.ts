import { Op, type Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { removeOldest } from '#server/database/remove-oldest.ts';
import { sqlOf } from '#server/database/sql.ts';
import { defineIdempotentReply, type IdempotentReplyRow } from './idempotent-reply-model.ts';

export type ReplyKey = Pick<IdempotentReplyRow, 'idempotencyKey' | 'endpoint' | 'caller'>;

export function createIdempotentReplyStore(sequelize: Sequelize) {
  const replies = defineIdempotentReply(sequelize);
  const sql = sqlOf(sequelize);
  const found = sql.statement<IdempotentReplyRow>(
    `SELECT ${modelColumns(replies)} FROM idempotent_replies
     WHERE idempotency_key = $idempotencyKey AND endpoint = $endpoint AND caller = $caller`,
  );
  return {
    find: (key: ReplyKey): Promise<IdempotentReplyRow | null> => found.first({ ...key }),
    async insert(reply: Omit<IdempotentReplyRow, 'id'>): Promise<void> {
      await replies.create(reply);
    },
    removeOld: removeOldest(sql, 'idempotent_replies', 'created_at'),
    /** Makes room for a new reply under the same key. Retention removes all others. */
    async removeIfOlder(key: ReplyKey, createdAt: number): Promise<void> {
      await replies.destroy({ where: { ...key, createdAt: { [Op.lt]: createdAt } } });
    },
  };
}

export type IdempotentReplyStore = ReturnType<typeof createIdempotentReplyStore>;
