// The license scan as its worker runs it, but by a clock that the test moves.
import { connect } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createEventService } from '#server/features/events/event-service.ts';
import { createEventStore } from '#server/features/events/event-store.ts';
import { scanLicenses, type ScanResult } from '#server/features/licenses/license-scan.ts';
import { createLicenseStore } from '#server/features/licenses/license-store.ts';
import { createNoticeClock } from '#server/features/licenses/notice-clock.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { createDeliveryStore } from '#server/features/webhooks/delivery-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { databaseAt } from './database.ts';

/** Opens a second connection to the database, as the worker thread does. @param where as for `databaseAt` */
export async function runScan(where: string, clock: Clock): Promise<ScanResult> {
  const sequelize = await connect(databaseAt(where));
  try {
    return await scanLicenses({
      licenses: createLicenseStore(sequelize),
      noticeClock: createNoticeClock(createServiceMarkStore(sequelize)),
      events: createEventService({
        events: createEventStore(sequelize),
        queueDeliveries: createDeliveryStore(sequelize).queue,
        clock,
        onQueued: () => {},
      }),
      transaction: createTransactions(sequelize),
      clock,
      isTrusted: () => true,
      isCancelled: () => false,
    });
  } finally {
    await sequelize.close();
  }
}
