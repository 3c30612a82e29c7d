// Wires a restore, which needs a data directory without a running server.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';
import { createKeepNewerObjects } from '#server/features/backup/keep-newer-objects.ts';
import { findNewerObjects } from '#server/features/backup/newer-objects-store.ts';
import { compareDatabases } from '#server/features/backup/restore-comparison-store.ts';
import type { RestorePreview } from '#server/features/backup/restore-preview.ts';
import {
  createRestoreService,
  type PendingRestore,
  type RestoreRequest,
} from '#server/features/backup/restore-service.ts';
import {
  createRestoredDatabaseStore,
  type HighestGiven,
} from '#server/features/backup/restored-database-store.ts';
import { createAuthorityStore } from '#server/features/certificates/authority-store.ts';
import { encodeRevocation } from '#server/features/certificates/revocation-entry.ts';
import { restoreTarget } from './compose-administration.ts';
import { composeUpkeep } from './compose-certificates.ts';
import { refuseForeignDatabase } from './replaced-database.ts';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import { isEmptyDatabase, isKnownSchema, migrate } from '#server/database/migrate.ts';
import { createTransactions, type RunTransaction } from '#server/database/transaction.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { type Call, cliCall } from '#server/platform/call.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import {
  type Config,
  ConfigError,
  configFilePath,
  givenBy,
  parseGiven,
  readConfigFile,
  refuseUnknown,
} from '#server/platform/config.ts';
import { DATABASE_SETTINGS, type Setting, SETTINGS } from '#server/platform/settings.ts';
import { copyDatabase } from '#server/database/copy-database.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { VERSION } from '#server/installation/version.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { createSealer } from '#server/platform/sealer.ts';
import { createSecurityLog, type SecurityLog } from '#server/platform/security-log.ts';
import { settingDifferences } from '#server/features/settings/setting-changes.ts';
import { createReissueStore } from '#server/features/signing/reissue-store.ts';
import { createSigningService } from '#server/features/signing/signing-service.ts';
import { createSigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { openSigningKey } from '#server/features/signing/loaded-keys.ts';

/** More than can have been built since the backup. */
const LISTS_AHEAD = 100_000;
const SECOND_MS = 1000;

/** A command has not seen the clock before. */
const isClockTrusted = () => true;

/** Another command finishes sooner than this; a server does not. */
const LOCK_WAIT_MS = 2000;

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
function upgradeDatabase(file: string, masterKey: Buffer): Promise<void> {
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
async function findForeignCode(file: string): Promise<string[]> {
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

interface About {
  preview: RestorePreview;
  highest: HighestGiven | null;
  /** The current database; null if there is none that can be read. */
  present: string | null;
}

async function finishDatabase(
  file: string,
  masterKey: Buffer,
  { preview, highest, present }: About,
  security: SecurityLog,
  call: Call,
): Promise<void> {
  const newer = present === null ? null : await findNewerObjects(file, present, clock.now());
  await onDatabase(file, async (sequelize, transaction) => {
    const audit = createAuditService({
      entries: createAuditStore(sequelize),
      clock,
      onRecorded: (entry) => recordSecurityEvent(security, entry),
    });
    const store = createRestoredDatabaseStore(sequelize);
    const { created_at, version, authenticated } = preview;
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
      const keep = createKeepNewerObjects({
        certificates,
        lists,
        signingKeys,
        encodeRevocation,
        now,
      });
      const kept = newer && present !== null ? await keep(newer, present) : {};
      const after = { created_at, version, authenticated, ...kept };
      await audit.record(call, 'backup.restored', 'backup', null, after);
    });
    await upkeep.run();
    const signing = await createSigningService({
      keys: signingKeys,
      reissue: createReissueStore(sequelize),
      sealer,
      audit,
      transaction,
      clock,
      isShared: false,
    });
    await signing.republish(highest?.distrustSequence ?? 0);
  });
}

/** @returns why a server would not start with the `config.json` in this folder */
function problemOfSettings(folder: string, { given }: Pick<Config, 'given'>): string | null {
  try {
    const file = readConfigFile(folder);
    refuseUnknown(file);
    for (const [name, row] of Object.entries(SETTINGS) as [keyof typeof SETTINGS, Setting<unknown>][])
      if (given[name].source === 'file' || given[name].source === 'default')
        parseGiven(row, givenBy(row, { flags: {}, env: {} }, file));
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

async function hasContent(location: DatabaseLocation): Promise<boolean> {
  if (location.url === null) return existsSync(location.file);
  try {
    const sequelize = await connect(location);
    try {
      if (await isEmptyDatabase(sequelize)) return false;
      await migrate(sequelize, createTransactions(sequelize));
      return true;
    } finally {
      await sequelize.close();
    }
  } catch (error) {
    throw aboutDatabase(error, location);
  }
}

function keepDatabaseSettings(dataDir: string, folder: string): void {
  const present = readConfigFile(dataDir);
  const restored = readConfigFile(folder);
  const isSame = DATABASE_SETTINGS.every((key) => present[key] === restored[key]);
  if (isSame) return;
  const others = Object.entries(restored).filter(([key]) => !DATABASE_SETTINGS.includes(key));
  const kept = DATABASE_SETTINGS.filter((key) => present[key] !== undefined).map((key) => [
    key,
    present[key],
  ]);
  const next = Object.fromEntries([...others, ...kept]) as object;
  writeFileDurably(configFilePath(folder), `${JSON.stringify(next, null, 2)}\n`);
}

interface RestoreNeeds {
  /** Whether a server runs on the data directory. */
  isServing: boolean;
  security: SecurityLog;
  /** Who restores, for the audit log. */
  call(): Call;
}

/** Everything except the data directory lock. */
export function composeRestore(config: Config, { isServing, security, call }: RestoreNeeds) {
  const { dataDir } = config;
  const database = databaseLocation(config);
  return createRestoreService({
    dataDir,
    database,
    target: restoreTarget(config),
    hasDatabase: () => hasContent(database),
    keepDatabaseSettings: (folder) => keepDatabaseSettings(dataDir, folder),
    isServing,
    givenKey: config,
    clock,
    version: VERSION,
    copyDatabase,
    problemOfSettings: (folder) => problemOfSettings(folder, config),
    isKnownSchema,
    upgradeDatabase,
    findForeignCode,
    compareDatabases,
    compareSettings: settingDifferences,
    finishDatabase: (file, key, about) => finishDatabase(file, key, about, security, call()),
  });
}

/** A restore that waits for confirmation. `close` cancels it unless it has been committed. */
export interface OpenedRestore extends PendingRestore {
  close(): Promise<void>;
}

/**
 * Unpacks and checks a backup, and locks the data directory until `close` is called.
 * @param userName the OS user, for the audit log
 * @param options `replaceDatabase`: also one with content that only the environment or the command line names
 * @throws DataDirectoryError if a server is running there; BackupError, ConfigError, NewerDatabaseError,
 *   UnusableDatabaseError
 */
export async function openRestore(
  config: Config,
  request: RestoreRequest,
  userName: string,
  { replaceDatabase = false } = {},
): Promise<OpenedRestore> {
  if (!replaceDatabase) await refuseForeignDatabase(config);
  prepareDataDirectory(config.dataDir);
  const lock = await takeDataDirectory(config.dataDir, LOCK_WAIT_MS);
  const security = createSecurityLog(join(config.dataDir, 'logs'), () => {});
  const restores = composeRestore(config, { isServing: false, security, call: () => cliCall(userName) });
  const close = async () => {
    restores.cancel();
    await lock.release();
  };
  try {
    return { ...(await restores.open(request)), close };
  } catch (error) {
    await close();
    throw error;
  }
}
