import { implement, type Route } from '#server/platform/route.ts';
import { retentionAdminContract } from './retention-contract.ts';
import type { RetentionService } from './retention-service.ts';

export function retentionAdminRoutes(retention: RetentionService): Route[] {
  return implement(retentionAdminContract, { showRetention: () => retention.show() });
}
