import { Op, type Sequelize } from 'sequelize';
import { forUpdate } from '../database/transaction.ts';
import { type ApiTokenRow, defineApiToken } from './api-token-model.ts';

export type ApiToken = ApiTokenRow;

export function createApiTokenStore(sequelize: Sequelize) {
  const tokens = defineApiToken(sequelize);
  return {
    async findByHash(tokenHash: string): Promise<ApiToken | null> {
      return (await tokens.findOne({ where: { tokenHash }, raw: true })) as unknown as ApiToken | null;
    },
    async findForChange(id: number): Promise<ApiToken | null> {
      return (await tokens.findOne({
        where: { id },
        raw: true,
        ...forUpdate(),
      })) as unknown as ApiToken | null;
    },
    async insert(token: Omit<ApiTokenRow, 'id'>): Promise<ApiToken> {
      const created = await tokens.create(token);
      return { ...token, id: created.get('id') as number };
    },
    async update(id: number, changes: Partial<Pick<ApiTokenRow, 'revokedAt' | 'lastUsedAt'>>): Promise<void> {
      await tokens.update(changes, { where: { id } });
    },
    /** Newest first, one more than `limit` if there are more. */
    async list(before: number | null, limit: number): Promise<ApiToken[]> {
      const rows = await tokens.findAll({
        where: before === null ? {} : { id: { [Op.lt]: before } },
        order: [['id', 'DESC']],
        limit: limit + 1,
        raw: true,
      });
      return rows as unknown as ApiToken[];
    },
  };
}

export type ApiTokenStore = ReturnType<typeof createApiTokenStore>;
