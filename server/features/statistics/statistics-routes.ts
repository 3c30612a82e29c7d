import { implement, type Route } from '#server/platform/route.ts';
import type { statisticsContract } from './statistics-contract.ts';
import type { StatisticsService } from './statistics-service.ts';

/** @param rows the public endpoint, or the same endpoint on the admin listener */
export function statisticsRoutes(rows: typeof statisticsContract, stats: StatisticsService): Route[] {
  return implement(rows, { stats: (request) => stats.read(request) });
}
