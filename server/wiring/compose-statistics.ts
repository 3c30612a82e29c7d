// Wires the statistics, and the counts that the overview shares with them.
import type { Database } from '#server/database/connect.ts';
import { readTogether } from '#server/database/read-together.ts';
import { createLicenseCountStore } from '#server/features/statistics/license-count-store.ts';
import { createStatisticsService } from '#server/features/statistics/statistics-service.ts';
import { createStatisticsStore } from '#server/features/statistics/statistics-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { EXPIRING_MS } from '#server/rules/license-lifecycle.ts';

/** @param needs `flushUsage` writes the counts that are still in memory */
export function composeStatistics(
  sequelize: Database,
  needs: { clock: Clock; flushUsage: () => Promise<void> },
) {
  const perDay = createStatisticsStore(sequelize);
  const licenses = createLicenseCountStore(sequelize, EXPIRING_MS);
  return {
    perDay,
    licenses,
    service: createStatisticsService({
      ...needs,
      stats: perDay,
      licenses,
      readTogether: readTogether(sequelize),
    }),
  };
}
