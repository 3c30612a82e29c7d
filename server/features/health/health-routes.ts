import { implement, type Route } from '#server/platform/route.ts';
import type { healthContract } from './health-contract.ts';
import type { HealthService } from './health-service.ts';

export function healthRoutes(rows: typeof healthContract, health: HealthService): Route[] {
  return implement(rows, {
    health: () => health.check(),
    healthLive: () => ({ status: 'ok' as const }),
    healthReady: () => health.ready(),
  });
}
