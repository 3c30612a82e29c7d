import type { Model, ModelStatic, Optional, Sequelize } from 'sequelize';
import type { Plan } from '#server/rules/plan.ts';
import { idColumn, integerColumn, nullable, textColumn } from '#server/database/columns.ts';

export interface PlanRow extends Omit<Plan, 'features'> {
  /** JSON list of slugs. */
  features: string;
}

export type PlanModel = ModelStatic<Model<PlanRow, Optional<PlanRow, 'id'>>>;

export function definePlan(sequelize: Sequelize): PlanModel {
  return sequelize.define(
    'plan',
    {
      id: idColumn(),
      name: textColumn(),
      displayName: textColumn(),
      product: nullable(textColumn()),
      tier: integerColumn(),
      durationDays: integerColumn(),
      graceDays: integerColumn(),
      maxActivations: nullable(integerColumn()),
      features: textColumn(),
      archivedAt: nullable(integerColumn()),
      createdAt: integerColumn(),
      licensing: textColumn(),
      seats: nullable(integerColumn()),
      leaseSeconds: integerColumn(),
      countBy: textColumn(),
      overdraftSeats: integerColumn(),
      borrowMaxHours: integerColumn(),
      borrowMaxCount: nullable(integerColumn()),
      borrowKeepFree: integerColumn(),
      lingerSeconds: integerColumn(),
    },
    { tableName: 'plans' },
  );
}
