import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { refuseDuplicate } from '#server/database/duplicate-row.ts';
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

export function createPlanStore(sequelize: Sequelize) {
  const plans = definePlan(sequelize);
  const sql = sqlOf(sequelize);
  const columns = modelColumns(plans);
  const listed = sql.statement<PlanRow>(
    `SELECT ${columns} FROM plans WHERE tier > $tier OR (tier = $tier AND id > $id) ORDER BY tier, id LIMIT $limit`,
  );
  const named = sql.statement<PlanRow>(`SELECT ${columns} FROM plans WHERE name = $name`);
  const findByName = async (name: string): Promise<Plan | null> => {
    const row = await named.first({ name });
    return row && toPlan(row);
  };
  return {
    /** By tier, then ID, after `after`. Returns one more than `limit` if there are more. */
    async list(after: { tier: number; id: number } | null, limit: number): Promise<Plan[]> {
      const rows = await listed.all({ ...(after ?? { tier: -1, id: 0 }), limit: limit + 1 });
      return rows.map((row) => toPlan(row));
    },
    findByName,
    /** Keeps the plan from changing until the transaction ends: a change of it would not see a license that is written meanwhile. */
    async findToUse(name: string): Promise<Plan | null> {
      await sql.lock('plans', { name }, 'SHARE');
      return findByName(name);
    },
    /** Locks the row, so that the change starts from the current state. */
    async findForChange(where: { id: number } | { name: string }): Promise<Plan | null> {
      const row = await plans.findOne({ where, raw: true, ...forUpdate() });
      return row && toPlan(row as unknown as PlanRow);
    },
    /** @throws DuplicateRowError if the name is taken */
    async insert(plan: Omit<Plan, 'id'>): Promise<Plan> {
      const created = await refuseDuplicate(
        plans.create({ ...plan, features: JSON.stringify(plan.features) }),
      );
      return { ...plan, id: created.get('id') as number };
    },
    /** @throws DuplicateRowError if the new name is taken */
    async update(id: number, changes: PlanChanges): Promise<void> {
      await refuseDuplicate(plans.update(toRow(changes), { where: { id } }));
    },
    async remove(id: number): Promise<void> {
      await plans.destroy({ where: { id } });
    },
  };
}

export type PlanStore = ReturnType<typeof createPlanStore>;
