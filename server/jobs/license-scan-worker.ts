// The license scan as a worker thread with a separate database connection.
import { workerData } from 'node:worker_threads';
import { createTransactions } from '#server/database/transaction.ts';
import { createEventService } from '#server/features/events/event-service.ts';
import { createEventStore } from '#server/features/events/event-store.ts';
import { scanLicenses } from '#server/features/licenses/license-scan.ts';
import { createLicenseStore } from '#server/features/licenses/license-store.ts';
import { createNoticeClock } from '#server/features/licenses/notice-clock.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import { leaderRun, type LeaderRunData } from './leader-run.ts';

export type LicenseScanData = LeaderRunData;

const { clock, isLeader, isTrusted, isCancelled, run } = leaderRun(workerData as LicenseScanData);

await run((sequelize) =>
  scanLicenses({
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
    isTrusted,
    isCancelled: () => isCancelled() || !isLeader(),
  }),
);
