// The license scan as its worker runs it, but by a clock that the test moves.
import { join } from 'node:path';
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

/** Opens a second connection to the data directory's database, as the worker thread does. */
export async function runScan(dataDir: string, clock: Clock): Promise<ScanResult> {
  const sequelize = await connect({ url: null, file: join(dataDir, 'license-desk.db') });
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
