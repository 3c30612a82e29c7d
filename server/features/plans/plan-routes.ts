import type { Contract } from '#server/wire/endpoint.ts';
import { type Handlers, implement, type Route } from '#server/platform/route.ts';
import type { planContract } from './plan-contract.ts';
import type { PlanService } from './plan-service.ts';

/** @param rows the public endpoints, or the same endpoints on the admin listener */
export function planRoutes(rows: typeof planContract & Contract, plans: PlanService): Route[] {
  const handlers: Handlers<typeof planContract> = {
    listPlans: (request) => plans.list(request),
    createPlan: (request, call) => plans.create(request, call),
    updatePlan: (request, call) => plans.update(request, call),
    deletePlan: (request, call) => plans.remove(request, call),
  };
  return implement(rows, handlers);
}
