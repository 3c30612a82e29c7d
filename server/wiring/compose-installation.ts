// Opens a data directory's database and master key, and migrates the database. Creates both at the first start.
import { databaseLocation } from '#server/installation/database-location.ts';
import { forgetMove, settleMoveFiles } from '#server/installation/database-move.ts';
import { buildSearchIndices, type IndexBuild } from '#server/database/build-search-indices.ts';
import { checkpoint } from '#server/database/checkpoint.ts';
import { connect, type Database } from '#server/database/connect.ts';
import { isKnownSchema, migrate } from '#server/database/migrate.ts';
import { settleMoveMark } from '#server/database/move/move-mark.ts';
import { type PostgresWatch, watchPostgres } from '#server/database/postgres-watch.ts';
import { followSupport } from '#server/database/schema-support.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import { createTransactions, type Transactions } from '#server/database/transaction.ts';
import {
  hasHadDatabase,
  isFileMissing,
  isMarked,
  lostDatabase,
  markInstallation,
  missingSetting,
} from '#server/installation/installation.ts';
import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/logger.ts';
import { loadMasterKey } from '#server/platform/master-key.ts';
import type { SharedTime } from '#server/platform/shared-time.ts';
import { disownBackups } from '#server/features/backup/backup-records.ts';
import { createSigningKeyStore, type SigningKeyStore } from '#server/features/signing/signing-key-store.ts';

interface Needs {
  config: Config;
  guard: ControlledGuard;
  /** Follows the clock of PostgreSQL; null for a clock that nothing else sets. */
  sharedTime: SharedTime | null;
  /** Whether to start a new installation even if the data directory has lost its database. */
  newInstallation: boolean;
  logger: Pick<Logger, 'info' | 'warn' | 'error'>;
}

export interface Installation {
  sequelize: Database;
  /** Null on SQLite. */
  watch: PostgresWatch | null;
  transaction: Transactions;
  /** Runs in the background, on PostgreSQL. */
  indices: IndexBuild;
  signingKeys: SigningKeyStore;
  masterKey: Buffer;
  /** Called once there is a signing key: from now on, a start without the database is refused. */
  complete(): Promise<void>;
  /** Closes the database. */
  close(): Promise<void>;
}

/**
 * Order of a first start: schema, key file, signing key, marker, each durable before the next. A start that was killed
 * in between can continue. Only what comes after the key file or the marker proves that the database is lost.
 * @throws UnusableDatabaseError if the installation has lost its database, or has it elsewhere; nothing has changed then
 */
export async function openInstallation({
  config,
  guard,
  sharedTime,
  newInstallation,
  logger,
}: Needs): Promise<Installation> {
  const { dataDir } = config;
  const location = databaseLocation(config);
  const move = settleMoveFiles(dataDir, location);
  const problem = newInstallation ? null : missingSetting(dataDir, location);
  if (problem) throw problem;
  const mustExist = !newInstallation && hasHadDatabase(dataDir, location);
  const wasComplete = isMarked(dataDir, location);
  const refuse = () => {
    if (mustExist) throw lostDatabase(dataDir, location);
  };
  // Checked before connecting: SQLite deletes the WAL of an empty database.
  if (isFileMissing(location)) refuse();
  const sequelize = await connect(location, { guard, create: true });
  let watch: PostgresWatch | null = null;
  let indices: IndexBuild | null = null;
  const close = async () => {
    await indices?.pause();
    await watch?.end();
    await sequelize.close();
  };
  try {
    if (location.url !== null) {
      watch = await watchPostgres(sequelize, { onTime: (ms, tookMs) => sharedTime?.set(ms, tookMs) });
    }
    await settleMoveMark(sequelize, move?.id ?? null);
    forgetMove(dataDir);
    const transaction = createTransactions(sequelize, guard, (error) =>
      logger.warn({ err: error as Error }, 'a step after a change has failed; the change itself is made'),
    );
    await migrate(sequelize, transaction, refuse);
    if (watch) followSupport({ watch, guard, isKnown: isKnownSchema, logger });
    indices = buildSearchIndices(sequelize, logger);
    const signingKeys = createSigningKeyStore(sequelize);
    const nothingSealed = (await signingKeys.list()).length === 0;
    if (nothingSealed) {
      if (wasComplete) refuse();
      disownBackups(dataDir);
      await checkpoint(sequelize, 'TRUNCATE');
    }
    const masterKey = loadMasterKey(dataDir, config.masterKey, nothingSealed);
    return {
      sequelize,
      watch,
      transaction,
      indices,
      signingKeys,
      masterKey,
      async complete() {
        if (wasComplete && !nothingSealed) return;
        await checkpoint(sequelize, 'TRUNCATE');
        markInstallation(dataDir, location);
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}
