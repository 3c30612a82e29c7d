import { implement, type Route } from '#server/platform/route.ts';
import type { statisticsContract } from './statistics-contract.ts';
import type { StatisticsService } from './statistics-service.ts';

/** @param rows the public row, or the same row as the admin listener has it */
export function statisticsRoutes(rows: typeof statisticsContract, stats: StatisticsService): Route[] {
  return implement(rows, { stats: (request) => stats.read(request) });
}
