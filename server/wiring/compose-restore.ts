// Wires a restore, which needs a data directory without a running server.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';
import { BackupError } from '#server/features/backup/backup-format.ts';
import { findEnded, requireKnownAuthority } from '#server/features/backup/newer-objects-store.ts';
import { compareDatabases } from '#server/features/backup/restore-comparison-store.ts';
import { createRestoreService, type PendingRestore } from '#server/features/backup/restore-service.ts';
import type { RestoreRequest } from '#server/features/backup/restore-unpacking.ts';
import { restoreTarget } from './compose-administration.ts';
import { refuseForeignDatabase, refuseUnfinishedMove } from './replaced-database.ts';
import { findForeignCode, finishDatabase, upgradeDatabase } from './restored-database.ts';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { databaseName } from '#server/installation/installation.ts';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { isEmptyDatabase, isKnownSchema, pendingMigrations } from '#server/database/migrate.ts';
import { quickCheck } from '#server/database/quick-check.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { type Call, cliCall } from '#server/platform/call.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import { type Config, ConfigError, configFilePath, readConfigFile } from '#server/platform/config.ts';
import { DATABASE_SETTINGS, withoutDatabaseSettings } from '#server/platform/settings.ts';
import { copyDatabase } from '#server/database/copy-database.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { VERSION } from '#server/installation/version.ts';
import { createSecurityLog, type SecurityLog } from '#server/platform/security-log.ts';
import { requireUsableSettings } from '#server/features/settings/next-settings.ts';
import { settingDifferences } from '#server/features/settings/setting-changes.ts';

/** Another command finishes sooner than this; a server does not. */
const LOCK_WAIT_MS = 2000;

/** @returns why a server would not start with the `config.json` in this folder */
async function problemOfSettings(folder: string, config: Config): Promise<string | null> {
  try {
    await requireUsableSettings(config, readConfigFile(folder));
    return null;
  } catch (error) {
    if (error instanceof ConfigError) return error.message;
    throw error;
  }
}

/** @throws BackupError if it is in PostgreSQL and has the schema of an earlier version, which cannot be copied */
async function hasContent(location: DatabaseLocation): Promise<boolean> {
  if (location.url === null) return existsSync(location.file);
  try {
    const sequelize = await connect(location);
    try {
      if (await isEmptyDatabase(sequelize)) return false;
      // Not migrated here: a restore that is only previewed changes nothing, and earlier servers may use the database.
      if ((await pendingMigrations(sequelize)).length === 0) return true;
      throw new BackupError(
        `the database ${databaseName(location)} was written by an earlier version of License Desk; start a server of this version once to update it, then restore`,
      );
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
  const kept = DATABASE_SETTINGS.filter((key) => present[key] !== undefined).map((key) => [
    key,
    present[key],
  ]);
  const next: object = { ...withoutDatabaseSettings(restored), ...Object.fromEntries(kept) };
  writeFileDurably(configFilePath(folder), `${JSON.stringify(next, null, 2)}\n`);
}

interface RestoreNeeds {
  /** Whether a server runs on the data directory. */
  isServing: boolean;
  security: SecurityLog;
  /** Who restores, for the audit log. */
  call(): Call;
  /** Ends copies and the check of the backup's database. */
  signal?: AbortSignal;
}

/** Everything except the data directory lock. */
export function composeRestore(
  config: Config,
  { isServing, security, call, signal = new AbortController().signal }: RestoreNeeds,
) {
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
    signal,
    problemOfSettings: (folder) => problemOfSettings(folder, config),
    isKnownSchema,
    upgradeDatabase,
    findForeignCode,
    compareDatabases,
    findEnded,
    requireKnownAuthority,
    findDamage: (file) => quickCheck(file, signal),
    compareSettings: settingDifferences,
    finishDatabase: (file, key, about) =>
      finishDatabase(file, key, {
        ...about,
        call: call(),
        onRecorded: (entry) => recordSecurityEvent(security, entry),
      }),
  });
}

/** A restore that waits for confirmation. `close` cancels it unless it has been committed. */
export interface OpenedRestore extends PendingRestore {
  close(): Promise<void>;
}

/**
 * Unpacks and checks a backup, and locks the data directory until `close` is called.
 * @param userName the OS user, for the audit log
 * @param options `replaceDatabase`: also one with content that only the environment or the command line names; or, if no
 *   setting names the one of the installation, by SQLite
 * @throws DataDirectoryError if a server is running there; BackupError, ConfigError, NewerDatabaseError,
 *   UnusableDatabaseError
 */
export async function openRestore(
  config: Config,
  request: RestoreRequest,
  userName: string,
  { replaceDatabase = false } = {},
): Promise<OpenedRestore> {
  refuseUnfinishedMove(config);
  if (!replaceDatabase) await refuseForeignDatabase(config);
  // A backup is often checked in a directory below the installation.
  prepareDataDirectory(config.dataDir, { mayBeNew: true });
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
