// The construction of what shows the service as a whole: the first screen, and the tray of the desktop app.
import { createDashboardService } from '#server/features/dashboard/dashboard-service.ts';
import { dashboardRoutes } from '#server/features/dashboard/dashboard-routes.ts';
import { createDashboardStore } from '#server/features/dashboard/dashboard-store.ts';
import { createServerStatus } from '#server/features/dashboard/server-status.ts';
import type { Database } from '#server/database/connect.ts';
import type { HealthService } from '#server/features/health/health-service.ts';
import { EXPIRING_MS } from '#server/rules/license-lifecycle.ts';
import { LICENSE_STATE } from '#server/features/licenses/license-query.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';

interface Needs extends Omit<Parameters<typeof createDashboardService>[0], 'figures'> {
  health: HealthService;
  live: LiveStreams;
}

export function composeDashboard(sequelize: Database, { health, live, ...needs }: Needs) {
  const figures = createDashboardStore(sequelize, { licenseState: LICENSE_STATE, expiringMs: EXPIRING_MS });
  const dashboard = createDashboardService({ figures, ...needs });
  const status = createServerStatus({
    figures,
    checkHealth: () => health.checkAll(),
    onChange: live.listen,
    clock: needs.clock,
  });
  return { routes: dashboardRoutes(dashboard), status };
}

export type ServerStatusReports = ReturnType<typeof createServerStatus>;
