import type { Sequelize } from 'sequelize';
import { QueryTypes, UniqueConstraintError } from 'sequelize';
import { forUpdate } from '../database/transaction.ts';
import { definePlan, type PlanRow } from './plan-model.ts';

export type Plan = Omit<PlanRow, 'features'> & { features: string[] };
export type PlanChanges = Partial<Omit<Plan, 'id' | 'createdAt'>>;

function toPlan(row: PlanRow): Plan {
  return { ...row, features: JSON.parse(row.features) as string[] };
}

function toRow<Changes extends { features?: string[] }>(changes: Changes) {
  const { features, ...rest } = changes;
  return features === undefined ? rest : { ...rest, features: JSON.stringify(features) };
}

export class DuplicatePlanError extends Error {
  override readonly name = 'DuplicatePlanError';
}

async function refuseDuplicate<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw error instanceof UniqueConstraintError ? new DuplicatePlanError() : error;
  }
}

export function createPlanStore(sequelize: Sequelize) {
  const plans = definePlan(sequelize);
  const read = async (where: Partial<PlanRow>, lock = {}): Promise<Plan | null> => {
    const row = await plans.findOne({ where, raw: true, ...lock });
    return row ? toPlan(row as unknown as PlanRow) : null;
  };
  return {
    async list(): Promise<Plan[]> {
      const rows = await plans.findAll({ order: ['tier', 'id'], raw: true });
      return (rows as unknown as PlanRow[]).map((row) => toPlan(row));
    },
    findByName: (name: string) => read({ name }),
    /** Locks the row: what is found is what the change starts from. */
    findForChange: (where: { id: number } | { name: string }) => read(where, forUpdate()),
    /** @throws DuplicatePlanError if the name is taken */
    async insert(plan: Omit<Plan, 'id'>): Promise<Plan> {
      const created = await refuseDuplicate(
        plans.create({ ...plan, features: JSON.stringify(plan.features) }),
      );
      return { ...plan, id: created.get('id') as number };
    },
    /** @throws DuplicatePlanError if the new name is taken */
    async update(id: number, changes: PlanChanges): Promise<void> {
      await refuseDuplicate(plans.update(toRow(changes), { where: { id } }));
    },
    async remove(id: number): Promise<void> {
      await plans.destroy({ where: { id } });
    },
    /** Whether any license has this plan. */
    async isInUse(id: number): Promise<boolean> {
      const rows = await sequelize.query('SELECT 1 FROM licenses WHERE plan_id = $id LIMIT 1', {
        bind: { id },
        type: QueryTypes.SELECT,
      });
      return rows.length > 0;
    },
    /** Licenses that wait for the end of their grace period wait for the new end. */
    async moveGraceEnd(id: number, graceMs: number): Promise<void> {
      await sequelize.query(
        'UPDATE licenses SET notice_due_at = expires_at + $graceMs WHERE plan_id = $id AND notice_due_at > expires_at',
        { bind: { id, graceMs }, type: QueryTypes.UPDATE },
      );
    },
  };
}

export type PlanStore = ReturnType<typeof createPlanStore>;
