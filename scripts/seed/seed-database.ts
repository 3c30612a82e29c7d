// Fills an open, migrated database in one transaction, so that an interrupted run leaves nothing behind.
import { foldForSearch } from '#server/wire/search-text.ts';
import { createAuditTrail } from './audit-trail.ts';
import { seedAuthorizationCounts } from './authorization-counts.ts';
import { createBulkInsert } from './bulk-insert.ts';
import { makeNoticesDue } from './due-notices.ts';
import { seedPlans } from './plans.ts';
import { createRandomSource } from './random-source.ts';
import { createIndices, dropSecondaryIndices } from './secondary-indices.ts';
import { makeLicense } from './seed-license.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

export interface SeedOrder {
  licenses: number;
  /** The same seed generates the same data, relative to `now`. */
  seed: number;
  now: number;
  defaultProduct: string;
  /** How many licenses are due for a notice afterwards; null for no particular number. */
  due: number | null;
  /** Receives the plaintext of every active token. */
  onToken(plaintext: string): void;
  onProgress(message: string): void;
}

export interface SeedSummary {
  licenses: number;
  tokens: number;
  tokens_active: number;
  activations: number;
  audit_entries: number;
  due: number;
}

/** Licenses generated while the database writes the previous ones. */
const CHUNK = 1000;
/** From this number on, dropping and rebuilding indices is faster. */
const BULK_LICENSES = 20_000;
const PROGRESS_EVERY = 50_000;

/** IDs are assigned here, because the audit log refers to them before the rows are written. */
async function nextId(connection: SqliteConnection, table: string): Promise<number> {
  const [row] = await connection.all<{ last: number }>(
    'SELECT seq AS last FROM sqlite_sequence WHERE name = ?',
    [table],
  );
  return (row?.last ?? 0) + 1;
}

async function seedLicenses(
  connection: SqliteConnection,
  order: SeedOrder,
): Promise<Omit<SeedSummary, 'due'>> {
  const { now, defaultProduct } = order;
  const firstId = await nextId(connection, 'licenses');
  let activationId = await nextId(connection, 'activations');
  const random = createRandomSource(`${order.seed}/${firstId}`);
  const shop = { random, defaultProduct, now, pickPlan: await seedPlans(connection, now) };
  const audit = createAuditTrail(random, now);
  const licenses = await createBulkInsert(connection, 'licenses', [
    'id',
    'license_key',
    'holder',
    'email',
    'search_text',
    'product',
    'plan_id',
    'issued_at',
    'expires_at',
    'first_activated_at',
    'revoked_at',
    'revoke_reason',
    'term',
    'notice_due_at',
  ]);
  const activations = await createBulkInsert(connection, 'activations', [
    'id',
    'license_id',
    'machine_fingerprint',
    'machine_name',
    'platform',
    'app_version',
    'activated_at',
    'released_at',
  ]);
  const tokens = await createBulkInsert(connection, 'authorization_tokens', [
    'license_id',
    'product',
    'name',
    'token_hash',
    'last_four',
    'status',
    'created_at',
    'expires_at',
    'ended_at',
    'last_used_at',
  ]);

  function add(index: number): void {
    const license = makeLicense(shop, firstId + index, (index + random.fraction()) / order.licenses);
    const { id, licenseKey, holder, product, plan } = license;
    licenses.add(
      id,
      licenseKey,
      holder.name,
      holder.email,
      foldForSearch(`${holder.name}\n${holder.email ?? ''}`),
      product,
      plan.id,
      license.issuedAt,
      license.expiresAt,
      license.firstActivatedAt,
      license.revokedAt,
      license.revokeReason,
      license.term,
      license.noticeDueAt,
    );
    audit.addLicense(license);
    for (const device of license.activations) {
      const { fingerprint, name, platform, appVersion, activatedAt, releasedAt } = device;
      activations.add(activationId, id, fingerprint, name, platform, appVersion, activatedAt, releasedAt);
      audit.addActivation(license, activationId, device);
      activationId += 1;
    }
    for (const token of license.tokens) {
      const { plaintext, hash, name, status, createdAt, expiresAt, endedAt, lastUsedAt } = token;
      tokens.add(
        id,
        product,
        name,
        hash,
        plaintext.slice(-4),
        status,
        createdAt,
        expiresAt,
        endedAt,
        lastUsedAt,
      );
      if (status === 'active') order.onToken(plaintext);
    }
  }

  async function flush(): Promise<void> {
    await licenses.flush();
    await activations.flush();
    await tokens.flush();
  }

  let flushed = Promise.resolve();
  for (let index = 0; index < order.licenses; index += 1) {
    add(index);
    if ((index + 1) % CHUNK === 0) {
      await flushed;
      flushed = flush();
    }
    if ((index + 1) % PROGRESS_EVERY === 0) order.onProgress(`${index + 1} of ${order.licenses} licenses`);
  }
  await flushed;
  for (const table of [licenses, activations, tokens]) await table.finish();
  order.onProgress('audit log');
  await seedAuthorizationCounts(connection, random, order);
  return {
    licenses: licenses.count(),
    tokens: tokens.count(),
    tokens_active: licenses.count(),
    activations: activations.count(),
    audit_entries: await audit.write(connection),
  };
}

const BEGIN = [
  // Holds most of a million licenses: pages of the unique indices are read repeatedly in random order.
  'PRAGMA cache_size = -1000000',
  'PRAGMA threads = 2',
  'PRAGMA synchronous = OFF',
  // Synchronous again at the end: a power failure may lose this run, but not earlier data.
  'PRAGMA wal_autocheckpoint = 0',
  // Devices and tokens may be written before their licenses; all references are checked before the commit.
  'PRAGMA foreign_keys = OFF',
  'BEGIN IMMEDIATE',
].join('; ');

const NOTHING = { licenses: 0, tokens: 0, tokens_active: 0, activations: 0, audit_entries: 0 };

export async function seedDatabase(connection: SqliteConnection, order: SeedOrder): Promise<SeedSummary> {
  await connection.exec(BEGIN);
  try {
    const dropped = order.licenses >= BULK_LICENSES ? await dropSecondaryIndices(connection) : [];
    const made = order.licenses > 0 ? await seedLicenses(connection, order) : NOTHING;
    if (dropped.length > 0) order.onProgress('indices');
    await createIndices(connection, dropped);
    const due = order.due === null ? 0 : await makeNoticesDue(connection, order.due, order.now);
    order.onProgress('checking');
    const [broken] = await connection.all('PRAGMA foreign_key_check');
    if (broken) throw new Error(`a row refers to a missing row: ${JSON.stringify(broken)}`);
    order.onProgress('committing');
    await connection.exec('COMMIT');
    order.onProgress('writing to disk');
    await connection.exec('PRAGMA synchronous = FULL; PRAGMA wal_checkpoint(TRUNCATE)');
    return { ...made, due };
  } catch (error) {
    await connection.exec('ROLLBACK').catch(() => {});
    throw error;
  }
}
