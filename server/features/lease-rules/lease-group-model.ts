import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, textColumn } from '#server/database/columns.ts';
import type { LeaseGroupKind } from './lease-group-contract.ts';

export interface LeaseGroupRow {
  id: number;
  name: string;
  kind: LeaseGroupKind;
  /** JSON list of names. */
  members: string;
  revision: number;
  createdAt: number;
  updatedAt: number;
}

export type LeaseGroupModel = ModelStatic<Model<LeaseGroupRow, Optional<LeaseGroupRow, 'id'>>>;

export function defineLeaseGroup(sequelize: Sequelize): LeaseGroupModel {
  return sequelize.define(
    'leaseGroup',
    {
      id: idColumn(),
      name: textColumn(),
      kind: textColumn(),
      members: textColumn(),
      revision: integerColumn(),
      createdAt: integerColumn(),
      updatedAt: integerColumn(),
    },
    { tableName: 'lease_groups' },
  );
}
