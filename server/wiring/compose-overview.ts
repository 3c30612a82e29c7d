// Wires the overview and the status for the desktop app.
import { createOverviewService } from '#server/features/overview/overview-service.ts';
import { overviewRoutes } from '#server/features/overview/overview-routes.ts';
import { createOverviewStore } from '#server/features/overview/overview-store.ts';
import { createServerStatus } from '#server/features/overview/server-status.ts';
import type { Database } from '#server/database/connect.ts';
import { readTogether } from '#server/database/read-together.ts';
import type { HealthService } from '#server/features/health/health-service.ts';
import { EXPIRING_MS } from '#server/rules/license-lifecycle.ts';
import { LICENSE_STATE } from '#server/features/licenses/license-query.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';

interface Needs extends Omit<Parameters<typeof createOverviewService>[0], 'figures' | 'readTogether'> {
  health: HealthService;
  live: LiveStreams;
}

export function composeOverview(sequelize: Database, { health, live, ...needs }: Needs) {
  const figures = createOverviewStore(sequelize, { licenseState: LICENSE_STATE, expiringMs: EXPIRING_MS });
  const overview = createOverviewService({ figures, readTogether: readTogether(sequelize), ...needs });
  const status = createServerStatus({
    figures,
    countFailedDeliveries: needs.countFailedDeliveries,
    checkHealth: () => health.checkAll(),
    onChange: live.listen,
    clock: needs.clock,
  });
  return { routes: overviewRoutes(overview), status };
}

export type ServerStatusReports = ReturnType<typeof createServerStatus>;
