// What gives access or receives events after a restore: the API tokens and webhooks of the restored database, compared with
// the current ones. An edit since the backup, or a forged backup, may have changed any of their columns.
import type { SqliteFile } from '#server/database/sqlite-file.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { listRows } from './listed-rows.ts';
import type {
  ApiTokenFact,
  Listed,
  RestoredApiToken,
  RestoredWebhook,
  RevivedWebhook,
  WebhookFact,
  WebhookRevival,
} from './restore-preview.ts';

/** By what each is compared: a column, or an expression that begins with one. */
const COMPARED: {
  api_tokens: Record<ApiTokenFact, string>;
  webhooks: Record<WebhookFact, string>;
} = {
  api_tokens: {
    name: 'name',
    role: 'role',
    networks: 'networks',
    expires_at: 'expires_at',
    revoked: 'revoked_at IS NOT NULL',
  },
  webhooks: {
    url: 'url',
    scope: 'scope',
    description: 'description',
    ca: 'ca',
    secret: 'secret_sealed',
    paused: 'paused_at IS NOT NULL',
    deleted: 'deleted_at IS NOT NULL',
  },
};

type Comparable = keyof typeof COMPARED;

/** Columns that the current database lacks if it is of an earlier version. */
const ADDED = { api_tokens: ['networks', 'expires_at'], webhooks: ['paused_at'] } as const;

const SAME = {
  api_tokens: 'p.token_hash = r.token_hash',
  /** The ID alone is not enough: another installation uses the same ones. */
  webhooks: 'p.id = r.id AND p.created_at = r.created_at',
};

export interface TokenRow {
  name: string;
  role: string;
  last_four: string;
}

interface WebhookRow {
  id: number;
  url: string;
  scope: string;
}

interface ComparedRow {
  created_at: number;
  /** Null if there is nothing to compare with. */
  present: number | null;
  /** A JSON list. */
  changes: string;
}

/** What the restore adds or changes comes first, because only the first ones may be shown. */
const ORDER = `ORDER BY present IS 1 AND changes = '[]', r.id DESC`;

export const apiToken = ({ name, role, last_four }: TokenRow) => ({ name, role, token: `ldk_…${last_four}` });

/** The current table with the columns of this version. */
async function presentTable(database: SqliteFile, table: Comparable): Promise<string> {
  const columns = await database.all<{ name: string }>(
    `SELECT name FROM pragma_table_info('${table}', 'present')`,
  );
  const missing = ADDED[table].filter((column) => !columns.some(({ name }) => name === column));
  return `(SELECT *${missing.map((column) => `, NULL AS ${column}`).join('')} FROM present.${table})`;
}

/** The part of a query that compares each row `r`. */
async function comparison(database: SqliteFile, table: Comparable, hasPresent: boolean) {
  if (!hasPresent) return { columns: `NULL AS present, '[]' AS changes`, join: '' };
  const changed = Object.entries(COMPARED[table]).map(
    ([name, value]) => `SELECT '${name}' AS name WHERE p.id IS NOT NULL AND (r.${value}) IS NOT (p.${value})`,
  );
  return {
    columns: `p.id IS NOT NULL AS present,
      (SELECT json_group_array(name) FROM (${changed.join(' UNION ALL ')})) AS changes`,
    join: `LEFT JOIN ${await presentTable(database, table)} AS p ON ${SAME[table]}`,
  };
}

const compared = <Fact>({ created_at, present, changes }: ComparedRow) => ({
  created_at: toTimestamp(created_at),
  present: present === null ? null : present === 1,
  changes: JSON.parse(changes) as Fact[],
});

/** @param hasPresent whether the current database is attached */
export async function restoredApiTokens(
  database: SqliteFile,
  hasPresent: boolean,
): Promise<Listed<RestoredApiToken>> {
  const { columns, join } = await comparison(database, 'api_tokens', hasPresent);
  const sql = `
    SELECT r.name, r.role, r.last_four, r.created_at, ${columns}
    FROM main.api_tokens AS r ${join} WHERE r.revoked_at IS NULL ${ORDER}`;
  return listRows(database, sql, {}, (row: TokenRow & ComparedRow) => ({
    ...apiToken(row),
    ...compared<ApiTokenFact>(row),
  }));
}

/** @param hasPresent whether the current database is attached */
export async function restoredWebhooks(
  database: SqliteFile,
  hasPresent: boolean,
): Promise<Listed<RestoredWebhook>> {
  const { columns, join } = await comparison(database, 'webhooks', hasPresent);
  const sql = `
    SELECT r.url, r.scope, r.created_at, ${columns}
    FROM main.webhooks AS r ${join} WHERE r.deleted_at IS NULL ${ORDER}`;
  return listRows(database, sql, {}, (row: WebhookRow & ComparedRow) => ({
    url: row.url,
    scope: row.scope,
    ...compared<WebhookFact>(row),
  }));
}

/**
 * Webhooks whose deletion, pause or rotation the restore takes back. One that was deleted long ago may have been removed
 * completely. Data from before a restore may have the newer secret: then its overlap ends later.
 */
export async function revivedWebhooks(
  database: SqliteFile,
  isSameInstallation: boolean,
): Promise<Listed<RevivedWebhook>> {
  const webhook = 'r.id AS id, r.url, r.scope';
  const from = (join: string, present: string) =>
    `FROM main.webhooks AS r ${join} ${present} AS p ON ${SAME.webhooks} WHERE r.deleted_at IS NULL`;
  const present = await presentTable(database, 'webhooks');
  const both = `${from('JOIN', present)} AND p.deleted_at IS NULL`;
  const sql = `
    SELECT ${webhook}, 'deleted' AS reason, p.deleted_at AS ended_at ${from('LEFT JOIN', present)}
      AND (p.deleted_at IS NOT NULL OR p.id IS NULL AND $same)
    UNION ALL SELECT ${webhook}, 'rotated', NULL ${both}
      AND p.secret_sealed <> r.secret_sealed AND coalesce(p.overlap_ends_at, 0) >= coalesce(r.overlap_ends_at, 0)
    UNION ALL SELECT ${webhook}, 'paused', p.paused_at ${both} AND p.paused_at IS NOT NULL AND r.paused_at IS NULL
    ORDER BY id DESC, reason`;
  return listRows(
    database,
    sql,
    { same: isSameInstallation ? 1 : 0 },
    (row: WebhookRow & { reason: WebhookRevival; ended_at: number | null }) => ({
      ...row,
      ended_at: toTimestampOrNull(row.ended_at),
    }),
  );
}
