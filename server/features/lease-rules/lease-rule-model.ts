import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';
import type { LeaseRuleType } from '#server/rules/lease-rule-type.ts';

export interface LeaseRuleRow {
  id: number;
  licenseId: number;
  /** From 1, without gaps, for each license. */
  position: number;
  type: LeaseRuleType;
  matchUser: string | null;
  matchHost: string | null;
  matchGroupId: number | null;
  matchAddress: string | null;
  units: number | null;
  note: string | null;
  createdAt: number;
  updatedAt: number;
}

export type LeaseRuleModel = ModelStatic<Model<LeaseRuleRow, Optional<LeaseRuleRow, 'id'>>>;

export function defineLeaseRule(sequelize: Sequelize): LeaseRuleModel {
  return sequelize.define(
    'leaseRule',
    {
      id: idColumn(),
      licenseId: integerColumn(),
      position: integerColumn(),
      type: textColumn(),
      matchUser: nullable(textColumn()),
      matchHost: nullable(textColumn()),
      matchGroupId: nullable(integerColumn()),
      matchAddress: nullable(textColumn()),
      units: nullable(integerColumn()),
      note: nullable(textColumn()),
      createdAt: integerColumn(),
      updatedAt: integerColumn(),
    },
    { tableName: 'lease_rules' },
  );
}
