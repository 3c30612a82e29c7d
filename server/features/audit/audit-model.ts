import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface AuditRow {
  id: number;
  createdAt: number;
  actorKind: string;
  actorName: string;
  /** `license.revoked`, `plan.updated`, … */
  action: string;
  /** The affected object: `license:17`. */
  subject: string;
  /** JSON; null if the object did not exist. */
  beforeState: string | null;
  afterState: string | null;
  requestId: string | null;
}

export type AuditModel = ModelStatic<Model<AuditRow, Optional<AuditRow, 'id'>>>;

export function defineAudit(sequelize: Sequelize): AuditModel {
  return sequelize.define(
    'auditEntry',
    {
      id: idColumn(),
      createdAt: integerColumn(),
      actorKind: textColumn(),
      actorName: textColumn(),
      action: textColumn(),
      subject: textColumn(),
      beforeState: nullable(textColumn()),
      afterState: nullable(textColumn()),
      requestId: nullable(textColumn()),
    },
    { tableName: 'audit_entries' },
  );
}
