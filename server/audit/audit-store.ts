import { Op, type Sequelize } from 'sequelize';
import { type AuditRow, defineAudit } from './audit-model.ts';

export function createAuditStore(sequelize: Sequelize) {
  const entries = defineAudit(sequelize);
  return {
    async insert(entry: Omit<AuditRow, 'id'>): Promise<void> {
      await entries.create(entry);
    },
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
