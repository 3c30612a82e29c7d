import { implement, type Route } from '#server/platform/route.ts';
import { dashboardContract } from './dashboard-contract.ts';
import type { DashboardService } from './dashboard-service.ts';

export function dashboardRoutes(dashboard: DashboardService): Route[] {
  return implement(dashboardContract, { dashboard: () => dashboard.read() });
}
