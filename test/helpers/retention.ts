// The retention job as its worker runs it, but by a clock that the test moves.
import { join } from 'node:path';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createImportFiles } from '#server/features/license-transfer/import-files.ts';
import type { Clock } from '#server/platform/clock.ts';
import { createRestoreFolders } from '#server/features/retention/restore-folders.ts';
import { retentionPeriods, type RetentionSettings } from '#server/features/retention/retention-periods.ts';
import { type RetentionResult, runRetention } from '#server/features/retention/retention-run.ts';
import { composePrune } from '#server/wiring/compose-prune.ts';

interface Options {
  dataDir: string;
  clock: Clock;
  /** PostgreSQL instead of the data directory's database. */
  url?: string | null;
  settings?: Partial<RetentionSettings>;
  isTrusted?(now: number): boolean;
  isCancelled?(): boolean;
  onBatch?(rows: number): void;
}

const DEFAULTS: RetentionSettings = {
  retainEventsDays: 400,
  retainAttemptsDays: 90,
  retainAuditDays: 0,
  retainImportsDays: 30,
  retainRestoresDays: 30,
};

/** Opens a second connection to the database, as the worker thread does. */
export async function runRetentionOn({
  dataDir,
  clock,
  url = null,
  settings,
  ...rest
}: Options): Promise<RetentionResult> {
  const location: DatabaseLocation = { url, file: join(dataDir, 'license-desk.db') };
  const sequelize = await connect(location);
  try {
    return await runRetention({
      ownFilesOnly: false,
      stores: composePrune(sequelize),
      periods: retentionPeriods({ ...DEFAULTS, ...settings }),
      folders: createRestoreFolders(dataDir),
      removeForgottenUploads: createImportFiles(join(dataDir, 'imports')).removeForgotten,
      audit: createAuditService({ entries: createAuditStore(sequelize), clock }),
      transaction: createTransactions(sequelize),
      clock,
      isTrusted: () => true,
      isCancelled: () => false,
      ...rest,
    });
  } finally {
    await sequelize.close();
  }
}
