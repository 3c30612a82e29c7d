import { literal, Op, type Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { forUpdate } from '#server/database/transaction.ts';
import { type AuthorizationTokenRow, defineAuthorizationToken } from './authorization-token-model.ts';

export type AuthorizationToken = AuthorizationTokenRow;

/** Includes the holder of the license, so that a list needs no further look-ups. */
export type ListedToken = AuthorizationToken & { holder: string };

const HOLDER = literal(
  '(SELECT licenses.holder FROM licenses WHERE licenses.id = "authorizationToken"."license_id")',
);

const IDS_AT_ONCE = 500;

interface TokenFilter {
  licenseId: number | undefined;
  before: number | null;
  limit: number;
}

export function createAuthorizationTokenStore(sequelize: Sequelize) {
  const tokens = defineAuthorizationToken(sequelize);
  const sql = sqlOf(sequelize);
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
    async touch(ids: readonly number[], lastUsedAt: number): Promise<void> {
      for (let start = 0; start < ids.length; start += IDS_AT_ONCE) {
        const some = ids.slice(start, start + IDS_AT_ONCE);
        const isOne = sql.dialect.isIn('id', 'some');
        await sql.run(`UPDATE authorization_tokens SET last_used_at = $lastUsedAt WHERE ${isOne}`, {
          some,
          lastUsedAt,
        });
      }
    },
    /** Newest first. Returns one more than `limit` if there are more. */
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
