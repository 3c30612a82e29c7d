// The license scan as a worker thread with a separate database connection.
import { parentPort, workerData } from 'node:worker_threads';
import { connect, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createEventService } from '#server/features/events/event-service.ts';
import { createEventStore } from '#server/features/events/event-store.ts';
import { scanLicenses } from '#server/features/licenses/license-scan.ts';
import { createLicenseStore } from '#server/features/licenses/license-store.ts';
import { createNoticeClock } from '#server/features/licenses/notice-clock.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { isAhead } from '#server/platform/clock-guard.ts';
import { leaderIn } from '#server/platform/leadership.ts';
import { sharedClock } from '#server/platform/shared-time.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { reportingGuard } from './worker-guard.ts';

export interface LicenseScanData {
  location: DatabaseLocation;
  /** The clock guard's shared offset. */
  trustedOffset: SharedArrayBuffer;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
  /** The buffer of the leadership. */
  leadership: SharedArrayBuffer;
}

const { location, trustedOffset, sharedTime, leadership } = workerData as LicenseScanData;
const clock = sharedClock(sharedTime);
const { isLeader } = leaderIn(leadership);
const trusted = new Float64Array(trustedOffset);

let cancelled = false;
parentPort?.on('message', (message) => {
  if (message === 'cancel') cancelled = true;
});

const startedAt = performance.now();
const sequelize = await connect(location, { guard: reportingGuard(parentPort) });
try {
  const result = await scanLicenses({
    licenses: createLicenseStore(sequelize),
    // The main thread is notified of emitted events and wakes the dispatcher.
    events: createEventService({
      events: createEventStore(sequelize),
      queueDeliveries: createDeliveryStore(sequelize).queue,
      clock,
      onQueued: () => {},
    }),
    transaction: createTransactions(sequelize),
    noticeClock: createNoticeClock(createServiceMarkStore(sequelize)),
    clock,
    isTrusted: (now) => !isAhead(now, trusted[0] ?? 0),
    isCancelled: () => cancelled || !isLeader(),
  });
  parentPort?.postMessage({ ...result, ms: Math.round(performance.now() - startedAt) });
} finally {
  await sequelize.close();
  // Nothing keeps the thread alive after this.
  parentPort?.close();
}
