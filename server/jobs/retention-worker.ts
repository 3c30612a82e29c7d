// The retention job as a worker thread with a separate database connection.
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createImportFiles } from '#server/features/license-transfer/import-files.ts';
import { createRestoreFolders } from '#server/features/retention/restore-folders.ts';
import type { RetentionPeriods } from '#server/features/retention/retention-periods.ts';
import { runRetention } from '#server/features/retention/retention-run.ts';
import { composePrune } from '#server/wiring/compose-prune.ts';
import { leaderRun, type LeaderRunData } from './leader-run.ts';

export interface RetentionData extends LeaderRunData {
  dataDir: string;
  periods: RetentionPeriods;
}

const data = workerData as RetentionData;
const { clock, isLeader, isTrusted, isCancelled, run } = leaderRun(data);
const isShared = isLeader();

const PROGRESS_EVERY_MS = 5000;
let progressAt = performance.now();

await run((sequelize) =>
  runRetention({
    stores: composePrune(sequelize),
    periods: data.periods,
    folders: createRestoreFolders(data.dataDir),
    removeForgottenUploads: createImportFiles(join(data.dataDir, 'imports')).removeForgotten,
    audit: createAuditService({ entries: createAuditStore(sequelize), clock }),
    transaction: createTransactions(sequelize),
    clock,
    isTrusted,
    ownFilesOnly: !isShared,
    isCancelled: () => isCancelled() || (isShared && !isLeader()),
    onBatch() {
      if (performance.now() - progressAt < PROGRESS_EVERY_MS) return;
      progressAt = performance.now();
      parentPort?.postMessage({ alive: true });
    },
  }),
);
