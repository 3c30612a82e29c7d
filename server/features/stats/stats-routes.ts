import { implement, type Route } from '#server/platform/route.ts';
import type { statsContract } from './stats-contract.ts';
import type { StatsService } from './stats-service.ts';

/** @param rows the public row, or the same row as the admin listener has it */
export function statsRoutes(rows: typeof statsContract, stats: StatsService): Route[] {
  return implement(rows, { stats: (request) => stats.read(request) });
}
