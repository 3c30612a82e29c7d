// Licenses, what is done to many of them at once, and what happened to one.
import type { Audit } from './audit/audit-service.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import type { Events } from './events/event-service.ts';
import { createLicenseBulk } from './licenses/license-bulk.ts';
import { licenseAdminRoutes, licenseRoutes } from './licenses/license-routes.ts';
import { createLicenseService } from './licenses/license-service.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import { createLicenseTimeline } from './licenses/license-timeline.ts';
import { createLicenseTimelineStore } from './licenses/license-timeline-store.ts';
import type { PlanStore } from './plans/plan-store.ts';
import type { Clock } from './platform/clock.ts';
import { describeFailure } from './platform/error-handler.ts';
import type { Logger } from './platform/logger.ts';
import type { Route } from './platform/route.ts';

interface Needs {
  licenses: LicenseStore;
  findPlan: PlanStore['findByName'];
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  defaultProduct: string;
  logger: Logger;
}

interface Licenses {
  publicRoutes: Route[];
  adminRoutes: Route[];
}

export function composeLicenses(sequelize: Database, { logger, ...needs }: Needs): Licenses {
  const service = createLicenseService(needs);
  const bulk = createLicenseBulk({
    licenses: service,
    describeFailure: (error, call) => describeFailure(logger, error, call.requestId),
  });
  const timeline = createLicenseTimeline({
    licenses: needs.licenses,
    timeline: createLicenseTimelineStore(sequelize),
  });
  return {
    publicRoutes: licenseRoutes(service),
    adminRoutes: licenseAdminRoutes(service, bulk, timeline),
  };
}
