import type { Sequelize } from 'sequelize';
import { Op, UniqueConstraintError } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { forUpdate } from '#server/database/transaction.ts';
import type { Plan } from '#server/rules/plan.ts';
import { definePlan, type PlanRow } from './plan-model.ts';

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
  const sql = sqlOf(sequelize);
  const read = async (where: Partial<PlanRow>, lock = {}): Promise<Plan | null> => {
    const row = await plans.findOne({ where, raw: true, ...lock });
    return row ? toPlan(row as unknown as PlanRow) : null;
  };
  return {
    /** By tier, then ID, starting after `after`. */
    async list(after: { tier: number; id: number } | null, limit: number): Promise<Plan[]> {
      const behind = after && {
        [Op.or]: [{ tier: { [Op.gt]: after.tier } }, { tier: after.tier, id: { [Op.gt]: after.id } }],
      };
      const rows = await plans.findAll({ where: behind ?? {}, order: ['tier', 'id'], limit, raw: true });
      return (rows as unknown as PlanRow[]).map((row) => toPlan(row));
    },
    findByName: (name: string) => read({ name }),
    /** Keeps the plan from changing until the transaction ends: a change of it would not see a license that is written meanwhile. */
    async findToUse(name: string): Promise<Plan | null> {
      await sql.lock('plans', { name }, 'SHARE');
      return read({ name });
    },
    /** Locks the row, so that the change starts from the current state. */
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
  };
}

export type PlanStore = ReturnType<typeof createPlanStore>;
