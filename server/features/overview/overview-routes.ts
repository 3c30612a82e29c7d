import { implement, type Route } from '#server/platform/route.ts';
import { overviewContract } from './overview-contract.ts';
import type { OverviewService } from './overview-service.ts';

export function overviewRoutes(overview: OverviewService): Route[] {
  return implement(overviewContract, {
    overview: () => overview.read(),
    overviewTrend: (request) => overview.trend(request),
  });
}
