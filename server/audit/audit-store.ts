import { Op, type Sequelize } from 'sequelize';
import { insertInto } from '../database/insert-row.ts';
import { preparedQuery } from '../database/prepared-query.ts';
import { type AuditRow, defineAudit } from './audit-model.ts';

export function createAuditStore(sequelize: Sequelize) {
  const entries = defineAudit(sequelize);
  return {
    insert: insertInto(preparedQuery(sequelize), entries),
    /** Newest first, one more than `limit` if there is more. */
    async list(filter: {
      before: number | null;
      subject: string | undefined;
      limit: number;
    }): Promise<AuditRow[]> {
      const rows = await entries.findAll({
        where: {
          ...(filter.before === null ? {} : { id: { [Op.lt]: filter.before } }),
          ...(filter.subject === undefined ? {} : { subject: filter.subject }),
        },
        order: [['id', 'DESC']],
        limit: filter.limit + 1,
        raw: true,
      });
      return rows as unknown as AuditRow[];
    },
  };
}

export type AuditStore = ReturnType<typeof createAuditStore>;
