import { literal, Op, type Sequelize } from 'sequelize';
import { sqlOf } from '#server/database/sql.ts';
import { type AuthorizationTokenRow, defineAuthorizationToken } from './authorization-token-model.ts';

export type AuthorizationToken = AuthorizationTokenRow;

/** Includes the holder of the license, so that a list needs no further look-ups. */
export type ListedToken = AuthorizationToken & { holder: string };

const HOLDER = literal(
  '(SELECT licenses.holder FROM licenses WHERE licenses.id = "authorizationToken"."license_id")',
);

const SELECT = `
  SELECT id AS "id", license_id AS "licenseId", product AS "product", name AS "name", token_hash AS "tokenHash",
    last_four AS "lastFour", status AS "status", created_at AS "createdAt", expires_at AS "expiresAt",
    ended_at AS "endedAt", last_used_at AS "lastUsedAt"
  FROM authorization_tokens`;
const FIND_BY_ID = `${SELECT} WHERE id = $id`;
const FIND_ACTIVE = `${SELECT} WHERE license_id = $licenseId AND product = $product AND status = 'active'`;

const IDS_AT_ONCE = 500;

interface TokenFilter {
  licenseId: number | undefined;
  before: number | null;
  limit: number;
}

export function createAuthorizationTokenStore(sequelize: Sequelize) {
  const tokens = defineAuthorizationToken(sequelize);
  const sql = sqlOf(sequelize);
  const insert = sql.insert(tokens);
  const update = sql.update(tokens);
  const byId = sql.statement<AuthorizationToken>(FIND_BY_ID);
  const active = sql.statement<AuthorizationToken>(FIND_ACTIVE);
  return {
    findActive: (licenseId: number, product: string): Promise<AuthorizationToken | null> =>
      active.first({ licenseId, product }),
    async findForChange(id: number): Promise<AuthorizationToken | null> {
      await sql.lock('authorization_tokens', { id });
      return byId.first({ id });
    },
    async insert(token: Omit<AuthorizationTokenRow, 'id'>): Promise<AuthorizationToken> {
      return { ...token, id: await insert(token) };
    },
    end: (id: number, status: 'revoked' | 'replaced' | 'expired', endedAt: number): Promise<void> =>
      update(id, { status, endedAt }),
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
