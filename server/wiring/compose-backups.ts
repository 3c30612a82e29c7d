// Wires backups: those that are downloaded, and the daily ones.
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import { backupAdminRoutes } from '#server/features/backup/backup-routes.ts';
import { createBackupService } from '#server/features/backup/backup-service.ts';
import { createBackupStatusService } from '#server/features/backup/backup-status-service.ts';
import { removeStaging } from '#server/features/backup/data-files.ts';
import { createRestoreAdminService } from '#server/features/backup/restore-admin-service.ts';
import { createRestoreSources } from '#server/features/backup/restore-sources.ts';
import type { Call } from '#server/platform/call.ts';
import type { SecurityLog } from '#server/platform/security-log.ts';
import type { Installation } from './compose-installation.ts';
import { copyDatabase } from '#server/database/copy-database.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { VERSION } from '#server/installation/version.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { ServiceEnvironment } from './service.ts';

interface Needs {
  config: Config;
  audit: Audit;
  clock: Clock;
  logger: Logger;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  backupJob: ServiceEnvironment['backupJob'];
  security: SecurityLog;
  restart: (() => void) | null;
  onChanged(): void;
}

export async function composeBackups(
  { signingKeys, transaction, masterKey }: Installation,
  { config, backupJob: job, security, restart, ...needs }: Needs,
) {
  const { dataDir } = config;
  const database = databaseLocation(config);
  const installation = { dataDir, database, masterKey, version: VERSION, schema: SCHEMA };
  const keys = await signingKeys.list();
  const status = createBackupStatusService({
    ...needs,
    settings: config,
    installation,
    installedAt: Math.min(needs.clock.now(), ...keys.map(({ createdAt }) => createdAt)),
    transaction,
    job,
    copyDatabase,
  });
  const backups = createBackupService({
    ...needs,
    installation,
    transaction,
    copyDatabase,
    onDownloaded: status.noteDownload,
  });
  const restores = createRestoreAdminService({
    ...needs,
    dataDir,
    folder: config.backupFolder,
    restores: {
      open: async (request, call) => (await restoresOf(call)).open(request),
      cancel: () => removeStaging(dataDir),
    },
    sources: createRestoreSources(dataDir, config.backupFolder),
    transaction,
    restart,
  });
  const ending = new AbortController();
  const { signal } = ending;
  /** Loaded on demand, to keep the start fast. */
  async function restoresOf(call: Call) {
    const { composeRestore } = await import('./compose-restore.ts');
    return composeRestore(config, { isServing: true, security, call: () => call, signal });
  }
  await restores.reportCanceled();
  return {
    routes: backupAdminRoutes(backups, status, restores),
    job: status.job,
    showAlerts: status.showAlerts,
    async close() {
      ending.abort();
      backups.close();
      await restores.close();
    },
  };
}
