// Compares a restored database with the current one, without changing either.
import type { Values } from '#server/database/named-values.ts';
import { type SqliteFile, openUnchanging, unchangingUri } from '#server/database/sqlite-file.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { KNOWS_DISTRUST, NEWER_CERTIFICATES, onBoth, SAME_INSTALLATION } from './newer-objects-store.ts';
import type {
  Comparison,
  Counts,
  Listed,
  NewerCertificate,
  NewerCertificates,
  Revived,
} from './restore-preview.ts';
import type { HighestGiven } from './restored-database-store.ts';

/** Everything is counted, but no more than this is listed. */
const MAX_LISTED = 10_000;

const COUNTS = (schema: 'main' | 'present') => `
  SELECT (SELECT count(*) FROM ${schema}.licenses) AS licenses,
    (SELECT count(*) FROM ${schema}.authorization_tokens WHERE status = 'active' AND expires_at > $now) AS authorization_tokens,
    (SELECT count(*) FROM ${schema}.certificates) AS certificates`;

/** The ID alone is not enough: another installation uses the same ones. */
const SAME_WEBHOOK = 'p.id = r.id AND p.created_at = r.created_at';

const API_TOKENS = (isPresent: string) => `
  SELECT r.name, r.role, r.created_at, r.last_four, ${isPresent} AS present
  FROM main.api_tokens AS r WHERE r.revoked_at IS NULL ORDER BY r.id DESC`;

const WEBHOOKS = (isPresent: string) => `
  SELECT r.url, r.scope, r.created_at, ${isPresent} AS present
  FROM main.webhooks AS r WHERE r.deleted_at IS NULL ORDER BY r.id DESC`;

/** By what gives access or receives events, which an edit, or a forged backup, may have changed. */
const IN_PRESENT = {
  apiTokens: 'EXISTS (SELECT 1 FROM present.api_tokens AS p WHERE p.token_hash = r.token_hash)',
  webhooks: `EXISTS (SELECT 1 FROM present.webhooks AS p WHERE ${SAME_WEBHOOK} AND p.url = r.url)`,
};

const REVIVED = {
  licenses: `
    SELECT p.license_key, p.holder, p.revoked_at
    FROM present.licenses AS p JOIN main.licenses AS r ON r.license_key = p.license_key
    WHERE p.revoked_at IS NOT NULL AND r.revoked_at IS NULL ORDER BY p.revoked_at DESC`,
  authorizationTokens: `
    SELECT r.id, p.last_four, p.product, p.ended_at, l.license_key
    FROM main.authorization_tokens AS r
      JOIN present.authorization_tokens AS p ON p.token_hash = r.token_hash
      JOIN main.licenses AS l ON l.id = r.license_id
    WHERE r.status = 'active' AND r.expires_at > $now AND p.status IN ('revoked', 'replaced')
    ORDER BY p.ended_at DESC`,
  // A rotation has replaced the secret, even if the old one is accepted for a while: after the restore, it has no end. Data
  // from before a restore may have the newer secret: then its audit log has the rotation of the current one.
  apiTokens: `
    SELECT r.id, p.name, p.role, r.last_four, p.revoked_at
    FROM present.api_tokens AS p JOIN main.api_tokens AS r ON r.id = p.id AND r.created_at = p.created_at
    WHERE r.revoked_at IS NULL AND (p.revoked_at IS NOT NULL
      OR p.token_hash <> r.token_hash AND r.previous_hash IS NOT p.token_hash AND NOT EXISTS (
        SELECT 1 FROM main.audit_entries AS e
        WHERE e.subject = 'api_token:' || r.id AND e.action = 'api_token.rotated'
          AND e.before_state ->> '$.last_four' = p.last_four))
    ORDER BY p.revoked_at DESC`,
  // A certificate that an earlier restore has revoked has an entry only.
  certificates: `
    SELECT r.serial_number, r.subject, e.json ->> '$.reason' AS reason, e.json ->> '$.revoked_at' AS revoked_at
    FROM present.revocation_entries AS e JOIN main.certificates AS r ON r.serial_number = e.json ->> '$.serial_number'
    WHERE r.revoked_at IS NULL AND r.not_after > $now ORDER BY revoked_at DESC`,
  // A webhook that was deleted long ago may have been removed completely.
  webhooks: `
    SELECT r.id, r.url, r.scope, p.deleted_at
    FROM main.webhooks AS r LEFT JOIN present.webhooks AS p ON ${SAME_WEBHOOK}
    WHERE r.deleted_at IS NULL AND (p.deleted_at IS NOT NULL OR p.id IS NULL AND $same) ORDER BY r.id DESC`,
  signingKeys: `
    SELECT p.key_id, p.distrusted_at
    FROM present.signing_keys AS p JOIN main.signing_keys AS r ON r.key_id = p.key_id
    WHERE p.distrusted_at IS NOT NULL AND r.distrusted_at IS NULL ORDER BY p.distrusted_at DESC`,
};

interface Token {
  name: string;
  role: string;
  last_four: string;
}

const KNOWS_DISTRUST_LISTS = `SELECT 1 FROM present.sqlite_master WHERE type = 'table' AND name = 'distrust_lists'`;

type Ended<Row> = Row & { revoked_at: number };

const apiToken = ({ name, role, last_four }: Token) => ({ name, role, token: `ldk_…${last_four}` });
const present = (flag: number | null) => (flag === null ? null : flag === 1);

async function list<Row extends object, Item>(
  database: SqliteFile,
  sql: string,
  values: Values,
  toItem: (row: Row) => Item,
): Promise<Listed<Item>> {
  const rows = await database.all<Row>(`${sql} LIMIT ${MAX_LISTED}`, values);
  if (rows.length < MAX_LISTED) return { count: rows.length, items: rows.map(toItem) };
  const [total] = await database.all<{ count: number }>(`SELECT count(*) AS count FROM (${sql})`, values);
  return { count: total?.count ?? 0, items: rows.map(toItem) };
}

async function countsOf(database: SqliteFile, schema: 'main' | 'present', now: number): Promise<Counts> {
  const [counts] = await database.all<Counts>(COUNTS(schema), { now });
  return counts as Counts;
}

async function revivedIn(database: SqliteFile, now: number, isSame: boolean): Promise<Revived> {
  const all = <Row extends object, Item>(sql: string, values: Values, toItem: (row: Row) => Item) =>
    list(database, sql, values, toItem);
  return {
    licenses: await all(REVIVED.licenses, {}, (row: Ended<{ license_key: string; holder: string }>) => ({
      license_key: row.license_key,
      holder: row.holder,
      revoked_at: toTimestamp(row.revoked_at),
    })),
    authorization_tokens: await all(
      REVIVED.authorizationTokens,
      { now },
      (row: { id: number; last_four: string; license_key: string; product: string; ended_at: number }) => ({
        id: row.id,
        token: `ldt_…${row.last_four}`,
        license_key: row.license_key,
        product: row.product,
        ended_at: toTimestamp(row.ended_at),
      }),
    ),
    api_tokens: await all(
      REVIVED.apiTokens,
      {},
      (row: Token & { id: number; revoked_at: number | null }) => ({
        id: row.id,
        ...apiToken(row),
        revoked_at: toTimestampOrNull(row.revoked_at),
      }),
    ),
    certificates: await all(
      REVIVED.certificates,
      { now },
      (row: { serial_number: string; subject: string; reason: string; revoked_at: string }) => ({
        ...row,
        revoked_at: toTimestamp(Date.parse(row.revoked_at)),
      }),
    ),
    webhooks: await all(
      REVIVED.webhooks,
      { same: isSame ? 1 : 0 },
      (row: { id: number; url: string; scope: string; deleted_at: number | null }) => ({
        ...row,
        deleted_at: toTimestampOrNull(row.deleted_at),
      }),
    ),
    signing_keys:
      (await database.all(KNOWS_DISTRUST)).length === 0
        ? { count: 0, items: [] }
        : await all(REVIVED.signingKeys, {}, (row: { key_id: string; distrusted_at: number }) => ({
            key_id: row.key_id,
            distrusted_at: toTimestamp(row.distrusted_at),
          })),
  };
}

async function newerIn(database: SqliteFile, now: number): Promise<NewerCertificates> {
  const all = (sql: string) =>
    list(database, sql, { now }, ({ serial_number, subject }: NewerCertificate) => ({
      serial_number,
      subject,
    }));
  const { count: kept } = await all(NEWER_CERTIFICATES.kept);
  return {
    kept,
    revoked: await all(NEWER_CERTIFICATES.revoked),
    irrevocable: await all(NEWER_CERTIFICATES.irrevocable),
  };
}

async function contentsOf(database: SqliteFile, now: number, hasPresent: boolean) {
  const isPresent = hasPresent ? IN_PRESENT : { apiTokens: 'NULL', webhooks: 'NULL' };
  return {
    counts: await countsOf(database, 'main', now),
    api_tokens: await list(
      database,
      API_TOKENS(isPresent.apiTokens),
      {},
      (row: Token & { created_at: number; present: number | null }) => ({
        ...apiToken(row),
        created_at: toTimestamp(row.created_at),
        present: present(row.present),
      }),
    ),
    webhooks: await list(
      database,
      WEBHOOKS(isPresent.webhooks),
      {},
      (row: { url: string; scope: string; created_at: number; present: number | null }) => ({
        url: row.url,
        scope: row.scope,
        created_at: toTimestamp(row.created_at),
        present: present(row.present),
      }),
    ),
  };
}

async function highestIn(database: Pick<SqliteFile, 'all'>): Promise<HighestGiven> {
  const ids = await database.all<{ name: string; seq: number }>(
    'SELECT name, seq FROM present.sqlite_sequence',
  );
  const [newest] = await database.all<{ number: number | null }>(
    'SELECT max(number) AS number FROM present.revocation_lists',
  );
  const hasDistrust = (await database.all(KNOWS_DISTRUST_LISTS)).length > 0;
  const [published] = hasDistrust
    ? await database.all<{ sequence: number | null }>(
        'SELECT max(sequence) AS sequence FROM present.distrust_lists',
      )
    : [];
  return { ids, listNumber: newest?.number ?? 0, distrustSequence: published?.sequence ?? 0 };
}

/** As `findNewerObjects`. */
export const readHighestGiven = (restored: string, presentFile: string): Promise<HighestGiven> =>
  onBoth(restored, presentFile, (all) => highestIn({ all }));

async function readPresent(database: SqliteFile, file: string, now: number) {
  await database.all('ATTACH $uri AS present', { uri: unchangingUri(file) });
  const isSame = (await database.all(SAME_INSTALLATION)).length > 0;
  return {
    present: {
      counts: await countsOf(database, 'present', now),
      same_installation: isSame,
      revived: await revivedIn(database, now, isSame),
      newer_certificates: await newerIn(database, now),
    },
    highest: await highestIn(database),
  };
}

/**
 * Nothing else may write to either file meanwhile.
 * @param restored has this version's schema
 * @param presentFile of any version, possibly damaged (a reason to restore); null if there is none
 * @param now epoch milliseconds
 * @returns `highest`: from the current database; null if it is missing or unreadable
 */
export async function compareDatabases(
  restored: string,
  presentFile: string | null,
  now: number,
): Promise<{ comparison: Comparison; highest: HighestGiven | null }> {
  const database = await openUnchanging(restored);
  try {
    const read =
      presentFile === null
        ? { present: null, highest: null }
        : await readPresent(database, presentFile, now).catch((error: unknown) => error as Error);
    if (!(read instanceof Error)) {
      const contents = await contentsOf(database, now, read.present !== null);
      return {
        comparison: { ...contents, present: read.present, present_problem: null },
        highest: read.highest,
      };
    }
    const contents = await contentsOf(database, now, false);
    return { comparison: { ...contents, present: null, present_problem: read.message }, highest: null };
  } finally {
    await database.close();
  }
}
