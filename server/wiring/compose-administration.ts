// Wires the administration of the service: settings, backups, first steps.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { backupAdminRoutes } from '#server/features/backup/backup-routes.ts';
import { createBackupService } from '#server/features/backup/backup-service.ts';
import { finishRestore, removeLeftovers } from '#server/features/backup/data-files.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { connect, type Database } from '#server/database/connect.ts';
import { copyDatabase } from '#server/database/copy-database.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { firstRunAdminRoutes } from '#server/features/first-run/first-run-routes.ts';
import { createFirstRunService } from '#server/features/first-run/first-run-service.ts';
import { createFirstRunStore } from '#server/features/first-run/first-run-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { type Config, ConfigError } from '#server/platform/config.ts';
import type { Route } from '#server/platform/route.ts';
import { createRestoreFolders } from '#server/features/retention/restore-folders.ts';
import { retentionAdminRoutes } from '#server/features/retention/retention-routes.ts';
import { retentionPeriods } from '#server/features/retention/retention-periods.ts';
import { createRetentionRunStore } from '#server/features/retention/retention-run-store.ts';
import { createRetentionService } from '#server/features/retention/retention-service.ts';
import { createStorageFiguresStore } from '#server/features/retention/storage-figures-store.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { settingsAdminRoutes } from '#server/features/settings/settings-routes.ts';
import { createSettingsService } from '#server/features/settings/settings-service.ts';
import { VERSION } from '#server/installation/version.ts';

interface Needs {
  config: Config;
  masterKey: Buffer;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  ownPorts(): readonly number[];
  restart: (() => void) | null;
}

/**
 * Cleans up after a crash. Requires the data directory lock; call it first.
 * @throws ConfigError if this completed a restore, because the settings that were read may be outdated
 */
export function tidyDataDirectory(dataDir: string): void {
  if (finishRestore(dataDir)) {
    throw new ConfigError(
      'an interrupted restore has been completed and may have changed settings; start again',
    );
  }
  removeLeftovers(dataDir);
}

/** @throws Error if the database cannot be reached */
async function tryDatabase(url: string): Promise<void> {
  const sequelize = await connect({ url, file: '' });
  await sequelize.close();
}

export function composeAdministration(sequelize: Database, needs: Needs) {
  const { config, masterKey, audit, transaction, clock, ownPorts, restart } = needs;
  const { url, file } = databaseLocation(config);
  const settings = createSettingsService({ config, audit, transaction, restart, ownPorts, tryDatabase });
  const firstRun = createFirstRunService({
    firstRun: createFirstRunStore(sequelize, createServiceMarkStore(sequelize)),
    audit,
    transaction,
    clock,
  });
  const backups = createBackupService({
    dataDir: config.dataDir,
    database: url === null ? file : null,
    masterKey,
    version: VERSION,
    schema: SCHEMA,
    audit,
    transaction,
    clock,
    copyDatabase,
  });
  const retention = createRetentionService({
    figures: createStorageFiguresStore(sequelize),
    runs: createRetentionRunStore(sequelize),
    folders: createRestoreFolders(config.dataDir),
    periods: retentionPeriods(config),
  });
  const adminRoutes: Route[] = [
    ...settingsAdminRoutes(settings),
    ...retentionAdminRoutes(retention),
    ...backupAdminRoutes(backups),
    ...firstRunAdminRoutes(firstRun),
  ];
  return { adminRoutes, close: () => backups.close() };
}
