// Compares a restored database with the current one, without changing either.
import type { Values } from '#server/database/named-values.ts';
import { type SqliteFile, openUnchanging, unchangingUri } from '#server/database/sqlite-file.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { listRows } from './listed-rows.ts';
import { KNOWS_DISTRUST, NEWER_CERTIFICATES, onBoth, SAME_INSTALLATION } from './newer-objects-store.ts';
import type { Comparison, Counts, NewerCertificate, NewerCertificates, Revived } from './restore-preview.ts';
import {
  apiToken,
  restoredApiTokens,
  restoredWebhooks,
  type TokenRow,
  revivedWebhooks,
} from './restored-access-store.ts';
import type { HighestGiven } from './restored-database-store.ts';

const COUNTS = (schema: 'main' | 'present') => `
  SELECT (SELECT count(*) FROM ${schema}.licenses) AS licenses,
    (SELECT count(*) FROM ${schema}.authorization_tokens WHERE status = 'active' AND expires_at > $now) AS authorization_tokens,
    (SELECT count(*) FROM ${schema}.certificates) AS certificates`;

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
  signingKeys: `
    SELECT p.key_id, p.distrusted_at
    FROM present.signing_keys AS p JOIN main.signing_keys AS r ON r.key_id = p.key_id
    WHERE p.distrusted_at IS NOT NULL AND r.distrusted_at IS NULL ORDER BY p.distrusted_at DESC`,
};

const KNOWS_DISTRUST_LISTS = `SELECT 1 FROM present.sqlite_master WHERE type = 'table' AND name = 'distrust_lists'`;

type Ended<Row> = Row & { revoked_at: number };

async function countsOf(database: SqliteFile, schema: 'main' | 'present', now: number): Promise<Counts> {
  const [counts] = await database.all<Counts>(COUNTS(schema), { now });
  return counts as Counts;
}

async function revivedIn(database: SqliteFile, now: number, isSame: boolean): Promise<Revived> {
  const all = <Row extends object, Item>(sql: string, values: Values, toItem: (row: Row) => Item) =>
    listRows(database, sql, values, toItem);
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
      (row: TokenRow & { id: number; revoked_at: number | null }) => ({
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
    webhooks: await revivedWebhooks(database, isSame),
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
    listRows(database, sql, { now }, ({ serial_number, subject }: NewerCertificate) => ({
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
  return {
    counts: await countsOf(database, 'main', now),
    api_tokens: await restoredApiTokens(database, hasPresent),
    webhooks: await restoredWebhooks(database, hasPresent),
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
