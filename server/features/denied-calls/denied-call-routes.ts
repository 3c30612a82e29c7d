import { implement, type Route } from '#server/platform/route.ts';
import { deniedCallAdminContract } from './denied-call-contract.ts';
import type { DeniedCallService } from './denied-call-service.ts';

export function deniedCallAdminRoutes(denials: DeniedCallService): Route[] {
  return implement(deniedCallAdminContract, { listDeniedCalls: (request) => denials.list(request) });
}
