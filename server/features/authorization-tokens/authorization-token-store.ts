import { literal, Op, type Sequelize } from 'sequelize';
import { forUpdate } from '#server/database/transaction.ts';
import { type AuthorizationTokenRow, defineAuthorizationToken } from './authorization-token-model.ts';

export type AuthorizationToken = AuthorizationTokenRow;

/** With the holder of its license, so that a list can be read without looking each up. */
export type ListedToken = AuthorizationToken & { holder: string };

const HOLDER = literal(
  '(SELECT licenses.holder FROM licenses WHERE licenses.id = "authorizationToken"."license_id")',
);

interface TokenFilter {
  licenseId: number | undefined;
  before: number | null;
  limit: number;
}

export function createAuthorizationTokenStore(sequelize: Sequelize) {
  const tokens = defineAuthorizationToken(sequelize);
  return {
    async findActive(licenseId: number, product: string): Promise<AuthorizationToken | null> {
      const row = await tokens.findOne({ where: { licenseId, product, status: 'active' }, raw: true });
      return row as unknown as AuthorizationToken | null;
    },
    async findForChange(id: number): Promise<AuthorizationToken | null> {
      const row = await tokens.findOne({ where: { id }, raw: true, ...forUpdate() });
      return row as unknown as AuthorizationToken | null;
    },
    async insert(token: Omit<AuthorizationTokenRow, 'id'>): Promise<AuthorizationToken> {
      const created = await tokens.create(token);
      return { ...token, id: created.get('id') as number };
    },
    async end(id: number, status: 'revoked' | 'replaced' | 'expired', endedAt: number): Promise<void> {
      await tokens.update({ status, endedAt }, { where: { id } });
    },
    /** Newest first, one more than `limit` if there are more. */
    async list({ licenseId, before, limit }: TokenFilter): Promise<ListedToken[]> {
      const rows = await tokens.findAll({
        attributes: { include: [[HOLDER, 'holder']] },
        where: {
          ...(licenseId === undefined ? {} : { licenseId }),
          ...(before === null ? {} : { id: { [Op.lt]: before } }),
        },
        order: [['id', 'DESC']],
        limit: limit + 1,
        raw: true,
      });
      return rows as unknown as ListedToken[];
    },
  };
}

export type AuthorizationTokenStore = ReturnType<typeof createAuthorizationTokenStore>;
