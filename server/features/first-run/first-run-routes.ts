import { implement, type Route } from '#server/platform/route.ts';
import { firstRunAdminContract } from './first-run-contract.ts';
import type { FirstRunService } from './first-run-service.ts';

export function firstRunAdminRoutes(firstRun: FirstRunService): Route[] {
  return implement(firstRunAdminContract, {
    showFirstRun: () => firstRun.show(),
    finishFirstRun: ({ skipped }, call) => firstRun.finish(skipped, call),
  });
}
