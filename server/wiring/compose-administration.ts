// Wires the administration of the service: settings, retention, first steps.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import {
  cancelRestore,
  committedRestore,
  finishRestore,
  removeLeftovers,
  type RestoreTarget,
} from '#server/features/backup/data-files.ts';
import type { IndexBuild } from '#server/database/build-search-indices.ts';
import { connect, type Database } from '#server/database/connect.ts';
import { connectionRule } from '#server/database/connection-rule.ts';
import { NotReplacedError } from '#server/database/move/not-replaced.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { databaseName, markNewLocation } from '#server/installation/installation.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import { databaseMoveAdminRoutes } from '#server/features/database-move/database-move-routes.ts';
import { createDatabaseMoveService } from '#server/features/database-move/database-move-service.ts';
import { firstRunAdminRoutes } from '#server/features/first-run/first-run-routes.ts';
import { createFirstRunService } from '#server/features/first-run/first-run-service.ts';
import { createFirstRunStore } from '#server/features/first-run/first-run-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import { type Config, ConfigError } from '#server/platform/config.ts';
import type { Route } from '#server/platform/route.ts';
import { RuleError } from '#server/platform/rule-error.ts';
import { createRestoreFolders } from '#server/features/retention/restore-folders.ts';
import { retentionAdminRoutes } from '#server/features/retention/retention-routes.ts';
import { retentionPeriods } from '#server/features/retention/retention-periods.ts';
import { createRetentionRunStore } from '#server/features/retention/retention-run-store.ts';
import { createRetentionService } from '#server/features/retention/retention-service.ts';
import { createStorageFiguresStore } from '#server/features/retention/storage-figures-store.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { settingsAdminRoutes } from '#server/features/settings/settings-routes.ts';
import { createSettingsService } from '#server/features/settings/settings-service.ts';

interface Needs {
  config: Config;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  ownPorts(): readonly number[];
  restart: (() => void) | null;
  guard: ControlledGuard;
  alerts: Pick<AlertBoard, 'raise'>;
  logger: Logger;
  /** How many others use the same database. */
  countOtherServers(): Promise<number>;
  indices: IndexBuild;
}

/** The database that a restore replaces, and how. */
export function restoreTarget(config: Config): RestoreTarget {
  const location = databaseLocation(config);
  // Both are loaded on demand, to keep the start fast.
  const replace: RestoreTarget['replace'] = async (file, kept, onKept) => {
    const { replacePostgres } = await import('#server/database/move/replace-postgres.ts');
    await replacePostgres(location, file, kept, onKept);
  };
  return {
    name: databaseName(location),
    replace: location.url === null ? null : replace,
    async carryOver(folder, present, plan) {
      const { carryOver } = await import('./restored-database.ts');
      await carryOver(config, folder, present, plan);
    },
    onReplaced: () => markNewLocation(config.dataDir, location),
  };
}

/** The data directory is not the one whose settings were read. Reading them again is all it takes. */
export class RestoreCompletedError extends ConfigError {
  override readonly name = 'RestoreCompletedError';
}

/**
 * Cleans up after a crash. Requires the data directory lock; call it first.
 * @throws RestoreCompletedError if this completed a restore, because the settings that were read may be outdated
 */
export async function tidyDataDirectory(config: Config): Promise<void> {
  const { dataDir } = config;
  const finished = await finishRestore(dataDir, restoreTarget(config)).catch((error: unknown) => {
    if (!(error instanceof NotReplacedError)) throw error;
    cancelRestore(dataDir, error.message);
    throw new RestoreCompletedError(
      `a confirmed restore was canceled, and nothing has changed: ${error.message}; start again`,
    );
  });
  if (finished) {
    throw new RestoreCompletedError(
      'a confirmed or interrupted restore has been completed and may have changed settings; start again',
    );
  }
  removeLeftovers(dataDir);
}

/** @throws Error if the database cannot be used */
async function tryDatabase(url: string): Promise<void> {
  try {
    const sequelize = await connect({ url, file: '' });
    await sequelize.close();
  } catch (error) {
    throw new RuleError((error as Error).message, connectionRule(error as Error), { cause: error });
  }
}

export function composeAdministration(sequelize: Database, needs: Needs) {
  const { config, audit, transaction, clock, ownPorts, restart, guard, alerts, logger } = needs;
  const settings = createSettingsService({
    config,
    audit,
    transaction,
    restart,
    ownPorts,
    tryDatabase,
    isRestoreStaged: () => committedRestore(config.dataDir) !== null,
  });
  const firstRun = createFirstRunService({
    firstRun: createFirstRunStore(sequelize, createServiceMarkStore(sequelize)),
    audit,
    transaction,
    clock,
  });
  const moves = createDatabaseMoveService({
    guard,
    alerts,
    restart,
    logger,
    async move(request, userName, hooks) {
      // Loaded on demand, to keep the start fast.
      const { moveWhileServing } = await import('./compose-live-move.ts');
      // It locks the table against the lock of the move, long after changes are refused.
      await needs.indices.pause();
      try {
        return await moveWhileServing(config, request, {
          ...hooks,
          sequelize,
          userName,
          otherServers: needs.countOtherServers,
        });
      } catch (error) {
        needs.indices.resume();
        throw error;
      }
    },
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
    ...firstRunAdminRoutes(firstRun),
    ...databaseMoveAdminRoutes(moves),
  ];
  return { adminRoutes };
}
