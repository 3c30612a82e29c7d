import type { Contract } from '#server/wire/endpoint.ts';
import { type Handlers, implement, type Route } from '#server/platform/route.ts';
import type { CheckoutExplanation } from './checkout-explanation.ts';
import type { CheckoutService } from './checkout-service.ts';
import { parseHeartbeat } from './heartbeat-request.ts';
import type { HeartbeatService } from './heartbeat-service.ts';
import type { leaseAdminContract } from './lease-admin-contract.ts';
import type { LeaseAdminService } from './lease-admin-service.ts';
import { leaseContract } from './lease-contract.ts';
import { leaseExplainContract } from './lease-explain-contract.ts';
import type { PoolListService } from './pool-list-service.ts';
import type { ReleaseService } from './release-service.ts';

interface Services {
  checkouts: CheckoutService;
  heartbeats: HeartbeatService;
  releases: ReleaseService;
}

export function leaseRoutes({ checkouts, heartbeats, releases }: Services): Route[] {
  const handlers: Handlers<typeof leaseContract> = {
    checkoutLease: (request, call) => checkouts.checkOut(request, call),
    heartbeatLeases: (request, call) => heartbeats.heartbeat(request, call),
    releaseLease: ({ lease_token: token }, call) => releases.release(token, call),
    borrowLease: (request, call) => releases.borrow(request, call),
    returnLease: (request, call) => releases.giveBack(request, call),
  };
  return implement(leaseContract, handlers, { heartbeatLeases: parseHeartbeat });
}

export function leaseExplainRoutes(explain: CheckoutExplanation): Route[] {
  return implement(leaseExplainContract, { explainCheckout: (request) => explain(request) });
}

/** @param rows the public endpoints, or the same endpoints on the admin listener */
export function leaseAdminRoutes(
  rows: typeof leaseAdminContract & Contract,
  administration: LeaseAdminService,
  pools: PoolListService,
): Route[] {
  const handlers: Handlers<typeof leaseAdminContract> = {
    listLeases: (request) => administration.list(request),
    listLeasePools: (request) => pools.list(request),
    leaseUsage: (request) => administration.usage(request),
    listLeaseDenials: (request) => administration.listDenials(request),
    reclaimLease: (request, call) => administration.reclaim(request, call),
  };
  return implement(rows, handlers);
}
