import type { Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { modelColumns } from '#server/database/column-lists.ts';
import { sqlOf } from '#server/database/sql.ts';
import { forUpdate } from '#server/database/transaction.ts';
import { type ApiTokenRow, defineApiToken } from './api-token-model.ts';

export type ApiToken = ApiTokenRow;

const BY_HASH: Lookup<string> = {
  columns: `
    id AS "id", name AS "name", role AS "role", token_hash AS "tokenHash", last_four AS "lastFour",
    created_at AS "createdAt", last_used_at AS "lastUsedAt", revoked_at AS "revokedAt", expires_at AS "expiresAt",
    networks AS "networks", previous_hash AS "previousHash", previous_last_four AS "previousLastFour",
    previous_expires_at AS "previousExpiresAt", previous_last_used_at AS "previousLastUsedAt"`,
  from: 'api_tokens WHERE token_hash = $tokenHash OR previous_hash = $tokenHash',
  values: (tokenHash) => ({ tokenHash }),
};

/** By the secret, because a rotation may have replaced it since it was looked up. */
const RECORD_USE = `
  UPDATE api_tokens SET
    last_used_at = CASE WHEN token_hash = $tokenHash THEN $now ELSE last_used_at END,
    previous_last_used_at = CASE WHEN previous_hash = $tokenHash THEN $now ELSE previous_last_used_at END
  WHERE token_hash = $tokenHash OR previous_hash = $tokenHash`;

export function createApiTokenStore(sequelize: Sequelize) {
  const tokens = defineApiToken(sequelize);
  const sql = sqlOf(sequelize);
  const listed = sql.statement<ApiToken>(
    `SELECT ${modelColumns(tokens)} FROM api_tokens WHERE id < $before ORDER BY id DESC LIMIT $limit`,
  );
  return {
    /** Finds a token by its current or its previous secret. */
    findByHash: sql.batched<string, ApiToken>(BY_HASH),
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
    async update(id: number, changes: Partial<Omit<ApiTokenRow, 'id'>>): Promise<void> {
      await tokens.update(changes, { where: { id } });
    },
    async recordUse(tokenHash: string, now: number): Promise<void> {
      await sql.run(RECORD_USE, { tokenHash, now });
    },
    /** Newest first. Returns one more than `limit` if there are more. */
    list: (before: number | null, limit: number): Promise<ApiToken[]> =>
      listed.all({ before: before ?? Number.MAX_SAFE_INTEGER, limit: limit + 1 }),
  };
}

export type ApiTokenStore = ReturnType<typeof createApiTokenStore>;
