// The retention job as a worker thread with a separate database connection.
import { join } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createImportFiles } from '#server/features/license-transfer/import-files.ts';
import { isAhead } from '#server/platform/clock-guard.ts';
import { leaderIn } from '#server/platform/leadership.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import { createRestoreFolders } from '#server/features/retention/restore-folders.ts';
import type { RetentionPeriods } from '#server/features/retention/retention-periods.ts';
import { runRetention } from '#server/features/retention/retention-run.ts';
import { composePrune } from '#server/wiring/compose-prune.ts';
import { reportingGuard } from './worker-guard.ts';

export interface RetentionData {
  location: DatabaseLocation;
  dataDir: string;
  periods: RetentionPeriods;
  /** The clock guard's shared offset. */
  trustedOffset: SharedArrayBuffer;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
  /** The buffer of the leadership. */
  leadership: SharedArrayBuffer;
}

const { location, dataDir, periods, trustedOffset, sharedTime, leadership } = workerData as RetentionData;
const clock = sharedClock(sharedTime);
const { isLeader } = leaderIn(leadership);
const isShared = isLeader();
const trusted = new Float64Array(trustedOffset);

const PROGRESS_EVERY_MS = 5000;
let progressAt = performance.now();
let cancelled = false;
parentPort?.on('message', (message) => {
  if (message === 'cancel') cancelled = true;
});

const startedAt = performance.now();
const sequelize = await connect(location, { guard: reportingGuard(parentPort) });
try {
  const result = await runRetention({
    stores: composePrune(sequelize),
    periods,
    folders: createRestoreFolders(dataDir),
    removeForgottenUploads: createImportFiles(join(dataDir, 'imports')).removeForgotten,
    audit: createAuditService({ entries: createAuditStore(sequelize), clock }),
    transaction: createTransactions(sequelize),
    clock,
    isTrusted: (now) => !isAhead(now, trusted[0] ?? 0),
    ownFilesOnly: !isShared,
    isCancelled: () => cancelled || (isShared && !isLeader()),
    onBatch() {
      if (performance.now() - progressAt < PROGRESS_EVERY_MS) return;
      progressAt = performance.now();
      parentPort?.postMessage({ alive: true });
    },
  });
  parentPort?.postMessage({ ...result, ms: Math.round(performance.now() - startedAt) });
} finally {
  await sequelize.close();
  // Nothing keeps the thread alive after this.
  parentPort?.close();
}
