// Prepares a restored database for its next start, and carries over what the current one must not lose.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { type Audit, createAuditService, type RecordedEntry } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { BackupError, DATABASE } from '#server/features/backup/backup-format.ts';
import type { RestorePlan } from '#server/features/backup/data-files.ts';
import { createKeepNewerObjects, type KeptObjects } from '#server/features/backup/keep-newer-objects.ts';
import { findNewerObjects, type NewerObjects } from '#server/features/backup/newer-objects-store.ts';
import { readHighestGiven } from '#server/features/backup/restore-comparison-store.ts';
import type { RestorePreview } from '#server/features/backup/restore-preview.ts';
import {
  createRestoredDatabaseStore,
  type HighestGiven,
} from '#server/features/backup/restored-database-store.ts';
import { createAuthorityStore } from '#server/features/certificates/authority-store.ts';
import { encodeRevocation } from '#server/features/certificates/revocation-entry.ts';
import { createSigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { openSigningKey } from '#server/features/signing/loaded-keys.ts';
import { connect, type Database } from '#server/database/connect.ts';
import { migrate } from '#server/database/migrate.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { type Call, directCall } from '#server/platform/call.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import { loadMasterKey, readMasterKeyFile } from '#server/platform/master-key.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { composeUpkeep } from './compose-certificates.ts';
import { composeSigningService } from './compose-signing.ts';

/** More than can have been built since the backup. */
const LISTS_AHEAD = 100_000;
const SECOND_MS = 1000;

/** A command has not seen the clock before. */
const isClockTrusted = () => true;

async function onDatabase(
  file: string,
  work: (sequelize: Database, transaction: RunTransaction) => Promise<void>,
  { create = false } = {},
): Promise<void> {
  const location = { url: null, file };
  try {
    const sequelize = await connect(location, { create });
    try {
      await work(sequelize, createTransactions(sequelize));
    } finally {
      await sequelize.close();
    }
  } catch (error) {
    throw aboutDatabase(error, location);
  }
}

/** @throws SealError if the master key is a different one */
export function upgradeDatabase(file: string, masterKey: Buffer): Promise<void> {
  return onDatabase(file, async (sequelize, transaction) => {
    const sealer = createSealer(masterKey);
    const audit = createAuditService({ entries: createAuditStore(sequelize), clock });
    await migrate(sequelize, transaction);
    for (const row of await createSigningKeyStore(sequelize).list()) openSigningKey(sealer, row);
    // Opens each key of the authority.
    const needs = { sealer, audit, transaction, clock, isClockTrusted };
    await composeUpkeep(sequelize, needs).authority.all();
  });
}

/** Compares with a new database, which is removed together with the unpacked files. */
export async function findForeignCode(file: string): Promise<string[]> {
  const known = new Map<string, string>();
  const listKnown = async (sequelize: Database, transaction: RunTransaction) => {
    await migrate(sequelize, transaction);
    for (const { name, sql } of await createRestoredDatabaseStore(sequelize).listCode()) known.set(name, sql);
  };
  await onDatabase(`${file}.new`, listKnown, { create: true });
  const foreign: string[] = [];
  await onDatabase(file, async (sequelize) => {
    for (const { name, sql } of await createRestoredDatabaseStore(sequelize).listCode())
      if (known.get(name) !== sql) foreign.push(name);
  });
  return foreign;
}

interface Preparation {
  highest: HighestGiven | null;
  /** The current database, and what it has that the restored one lacks; null if there is none that can be read. */
  present: { file: string; newer: NewerObjects } | null;
  call: Call;
  onRecorded?: (entry: RecordedEntry) => void;
  /** Writes the audit entry. */
  record(audit: Audit, kept: KeptObjects | null): Promise<void>;
}

/** May be repeated: it adds what is missing, and raises numbers again. */
async function prepare(file: string, masterKey: Buffer, preparation: Preparation): Promise<void> {
  const { highest, present, call, onRecorded, record } = preparation;
  const newer = present?.newer;
  await onDatabase(file, async (sequelize, transaction) => {
    const entries = createAuditStore(sequelize);
    const audit = createAuditService({ entries, clock, ...(onRecorded ? { onRecorded } : {}) });
    const store = createRestoredDatabaseStore(sequelize);
    const sealer = createSealer(masterKey);
    const { upkeep, certificates, lists } = composeUpkeep(sequelize, {
      sealer,
      audit,
      transaction,
      clock,
      isClockTrusted,
    });
    const signingKeys = createSigningKeyStore(sequelize);
    const authorities = createAuthorityStore(sequelize);
    for (const authority of newer?.authorities ?? []) await transaction(() => authorities.insert(authority));
    // Builds the CRL if there is none, so that its number can be raised.
    await upkeep.run();
    await transaction(async () => {
      await store.skipIds(highest);
      const now = clock.now();
      // Relying parties reject a CRL whose number is not greater than the previous one's.
      const leastNumber = Math.max(highest?.listNumber ?? 0, Math.floor(now / SECOND_MS));
      await lists.skipNumbers(leastNumber, LISTS_AHEAD, now - DAY_MS);
      const keep = createKeepNewerObjects({ certificates, lists, signingKeys, encodeRevocation, now });
      await record(audit, present && (await keep(present.newer, present.file)));
    });
    await upkeep.run();
    const signing = await composeSigningService(sequelize, {
      keys: signingKeys,
      sealer,
      audit,
      transaction,
      clock,
    });
    for (const { keyId: key_id, reason } of newer?.distrusted ?? [])
      await signing.distrust({ key_id, ...(reason === null ? {} : { reason }) }, call);
    await signing.republish(highest?.distrustSequence ?? 0);
  });
  if (existsSync(`${file}-wal`))
    throw new BackupError('the restored database could not be written completely; check the disk');
}

interface About extends Pick<Preparation, 'highest' | 'call' | 'onRecorded'> {
  preview: RestorePreview;
  /** The current database; null if there is none that can be read. */
  present: string | null;
}

/** Prepares the database for its next start. */
export async function finishDatabase(file: string, masterKey: Buffer, about: About): Promise<void> {
  const { preview, present, ...rest } = about;
  const newer = present === null ? null : await findNewerObjects(file, present, { now: clock.now() });
  const { created_at, version, authenticated } = preview;
  await prepare(file, masterKey, {
    ...rest,
    present: newer && present !== null ? { file: present, newer } : null,
    record: (audit, kept) =>
      audit.record(about.call, 'backup.restored', 'backup', null, {
        created_at,
        version,
        authenticated,
        ...kept,
      }),
  });
}

/**
 * Carries over what was issued, revoked or distrusted since the restore was confirmed. May be repeated.
 * @param folder with the committed restore
 * @param present the current database, which nothing writes to
 * @throws NotReplacedError if the current database cannot be read
 */
export async function carryOver(
  config: Pick<Config, 'dataDir' | 'masterKey'>,
  folder: string,
  present: string,
  { ended, about }: Pick<RestorePlan, 'ended' | 'about'>,
): Promise<void> {
  const file = join(folder, DATABASE);
  const masterKey = readMasterKeyFile(folder) ?? loadMasterKey(config.dataDir, config.masterKey, false);
  // Another version may have confirmed it.
  await upgradeDatabase(file, masterKey);
  const call = directCall({ kind: 'system', name: 'restore' });
  await prepare(file, masterKey, {
    highest: await readHighestGiven(file, present),
    present: { file: present, newer: await findNewerObjects(file, present, { now: clock.now(), ended }) },
    call,
    async record(audit, kept) {
      if (!kept || kept.certificates_kept + kept.certificates_revoked === 0) return;
      await audit.record(call, 'backup.restored', 'backup', null, { ...about, ...kept });
    },
  });
}
