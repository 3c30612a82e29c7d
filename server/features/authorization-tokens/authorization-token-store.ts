import type { Sequelize } from 'sequelize';
import { modelColumns } from '#server/database/column-lists.ts';
import { allOf, given } from '#server/database/condition.ts';
import { sqlOf } from '#server/database/sql.ts';
import { touchRecorder } from '#server/database/touch-buffer.ts';
import { type AuthorizationTokenRow, defineAuthorizationToken } from './authorization-token-model.ts';

export type AuthorizationToken = AuthorizationTokenRow;

/** Includes the holder of the license, so that a list needs no further look-ups. */
export type ListedToken = AuthorizationToken & { holder: string };

const TOKENS = 'authorization_tokens t';
const HOLDER = '(SELECT l.holder FROM licenses l WHERE l.id = t.license_id) AS "holder"';
const CONDITIONS = { licenseId: 't.license_id = $licenseId', before: 't.id < $before' };

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
  const columns = modelColumns(tokens, 't');
  const byId = sql.statement<AuthorizationToken>(`SELECT ${columns} FROM ${TOKENS} WHERE t.id = $id`);
  const active = sql.statement<AuthorizationToken>(`
    SELECT ${columns} FROM ${TOKENS}
    WHERE t.license_id = $licenseId AND t.product = $product AND t.status = 'active'`);
  return {
    findActive: (licenseId: number, product: string): Promise<AuthorizationToken | null> =>
      active.first({ licenseId, product }),
    find: (id: number): Promise<AuthorizationToken | null> => byId.first({ id }),
    async findForChange(id: number): Promise<AuthorizationToken | null> {
      await sql.lock('authorization_tokens', { id });
      return byId.first({ id });
    },
    async insert(token: Omit<AuthorizationTokenRow, 'id'>): Promise<AuthorizationToken> {
      return { ...token, id: await insert(token) };
    },
    end: (id: number, status: 'revoked' | 'replaced' | 'expired', endedAt: number): Promise<void> =>
      update(id, { status, endedAt }),
    touch: touchRecorder(sql, 'authorization_tokens', 'last_used_at'),
    /** Newest first. Returns one more than `limit` if there are more. */
    list({ licenseId, before, limit }: TokenFilter): Promise<ListedToken[]> {
      const { sql: where, bind } = allOf(given(CONDITIONS, { licenseId, before }));
      return sql.select<ListedToken>(
        `SELECT ${columns}, ${HOLDER} FROM ${TOKENS} WHERE ${where} ORDER BY t.id DESC LIMIT $limit`,
        { ...bind, limit: limit + 1 },
      );
    },
  };
}

export type AuthorizationTokenStore = ReturnType<typeof createAuthorizationTokenStore>;
