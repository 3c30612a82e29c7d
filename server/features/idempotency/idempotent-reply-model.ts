import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, textColumn } from '#server/database/columns.ts';

export interface IdempotentReplyRow {
  id: number;
  idempotencyKey: string;
  endpoint: string;
  caller: string;
  /** SHA-256 of the request, to detect a different body. */
  requestHash: string;
  /** The reply, sealed because it may contain a secret. */
  replySealed: string;
  createdAt: number;
}

export type IdempotentReplyModel = ModelStatic<Model<IdempotentReplyRow, Optional<IdempotentReplyRow, 'id'>>>;

export function defineIdempotentReply(sequelize: Sequelize): IdempotentReplyModel {
  return sequelize.define(
    'idempotentReply',
    {
      id: idColumn(),
      idempotencyKey: textColumn(),
      endpoint: textColumn(),
      caller: textColumn(),
      requestHash: textColumn(),
      replySealed: textColumn(),
      createdAt: integerColumn(),
    },
    { tableName: 'idempotent_replies' },
  );
}
