// The license scan as a worker thread, with a database connection of its own.
import { parentPort, workerData } from 'node:worker_threads';
import { connect, type DatabaseLocation } from '../database/connect.ts';
import { createTransactions } from '../database/transaction.ts';
import { createEventService } from '../events/event-service.ts';
import { createEventStore } from '../events/event-store.ts';
import { scanLicenses } from '../licenses/license-scan.ts';
import { createLicenseStore } from '../licenses/license-store.ts';
import { systemClock } from '../platform/clock.ts';

const { location } = workerData as { location: DatabaseLocation };

let cancelled = false;
parentPort?.on('message', (message) => {
  if (message === 'cancel') cancelled = true;
});

const startedAt = performance.now();
const sequelize = await connect(location);
try {
  const result = await scanLicenses({
    licenses: createLicenseStore(sequelize),
    // The main thread hears of what was emitted, and wakes the dispatcher.
    events: createEventService({
      events: createEventStore(sequelize),
      clock: systemClock,
      onQueued: () => {},
    }),
    transaction: createTransactions(sequelize),
    clock: systemClock,
    isCancelled: () => cancelled,
  });
  parentPort?.postMessage({ ...result, ms: Math.round(performance.now() - startedAt) });
} finally {
  await sequelize.close();
  // Nothing keeps the thread alive after this.
  parentPort?.close();
}
