// The construction of a restore: on a data directory that no server runs on, over the database of the backup.
import { createAuditService } from './audit/audit-service.ts';
import { createAuditStore } from './audit/audit-store.ts';
import { createRestoredDatabaseStore } from './backup/restored-database-store.ts';
import { createRestoreService, type Restored } from './backup/restore-service.ts';
import { composeUpkeep } from './compose-certificates.ts';
import { takeDataDirectory } from './data-directory.ts';
import { databaseLocation } from './database-location.ts';
import { connect } from './database/connect.ts';
import { isKnownSchema, migrate } from './database/migrate.ts';
import { createTransactions } from './database/transaction.ts';
import { aboutDatabase } from './database/unusable-database.ts';
import { type Call, cliCall } from './platform/call.ts';
import { systemClock } from './platform/clock.ts';
import { type Config, ConfigError } from './platform/config.ts';
import { createSealer } from './platform/sealer.ts';
import { createSigningKeyStore } from './signing/signing-key-store.ts';
import { openSigningKey } from './signing/signing-service.ts';

/** Another command is done sooner than this; a server is not. */
const LOCK_WAIT_MS = 2000;

/** @throws SealError if the master key is another one */
async function prepareDatabase(file: string, masterKey: Buffer, call: Call, about: object) {
  const sequelize = await connect({ url: null, file });
  try {
    const clock = systemClock;
    const transaction = createTransactions(sequelize);
    const sealer = createSealer(masterKey);
    const audit = createAuditService({ entries: createAuditStore(sequelize), clock });
    await migrate(sequelize, transaction);
    for (const row of await createSigningKeyStore(sequelize).list()) openSigningKey(sealer, row);
    const { authority, upkeep } = composeUpkeep(sequelize, { sealer, audit, transaction, clock });
    // Opens each key of the authority.
    await authority.all();
    const store = createRestoredDatabaseStore(sequelize);
    await transaction(async () => {
      await store.leaveIdsOut();
      await store.leaveListNumbersOut(clock.now());
      await audit.record(call, 'backup.restored', 'backup', null, about);
    });
    await upkeep.run();
    return { licenses: await store.countLicenses() };
  } catch (error) {
    throw aboutDatabase(error, { url: null, file });
  } finally {
    await sequelize.close();
  }
}

/**
 * Puts a backup in the place of what the data directory holds, all of it or nothing.
 * @param passphrase of the master key in it; null: that is kept apart
 * @param userName the OS user, for the audit log
 * @throws DataDirectoryError if a server runs there; BackupError, ConfigError, NewerDatabaseError, UnusableDatabaseError
 */
export async function restoreBackup(
  config: Config,
  request: { file: string; passphrase: string | null; userName: string },
): Promise<Restored> {
  if (databaseLocation(config).url !== null)
    throw new ConfigError('the data is in PostgreSQL, as --database-url says: restore it with pg_restore');
  const lock = await takeDataDirectory(config.dataDir, LOCK_WAIT_MS);
  try {
    const { dataDir, masterKey } = config;
    return await createRestoreService({
      dataDir,
      masterKey,
      clock: systemClock,
      isKnownSchema,
      prepareDatabase: (file, key, { created_at, version }) =>
        prepareDatabase(file, key, cliCall(request.userName), { created_at, version }),
    }).restore(request.file, request.passphrase);
  } finally {
    await lock.release();
  }
}
