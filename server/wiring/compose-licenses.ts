// Wires licenses, bulk changes and the timeline.
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import { createLicenseBulk } from '#server/features/licenses/license-bulk.ts';
import { licenseApiRoutes } from '#server/features/license-api/license-api-routes.ts';
import { createLicenseDetails, type LicenseDetails } from '#server/features/licenses/license-details.ts';
import type { ActivationService } from '#server/features/activations/activation-service.ts';
import { licenseAdminRoutes, licenseRoutes } from '#server/features/licenses/license-routes.ts';
import { createLicenseService } from '#server/features/licenses/license-service.ts';
import type { ChangeLicense } from '#server/features/licenses/license-change.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import { createLicenseTimeline } from '#server/features/licenses/license-timeline.ts';
import { createLicenseTimelineStore } from '#server/features/licenses/license-timeline-store.ts';
import { createNoticeClock } from '#server/features/licenses/notice-clock.ts';
import { keepsPace } from '#server/features/licenses/notice-recovery.ts';
import type { PlanStore } from '#server/features/plans/plan-store.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import { describeFailure } from '#server/platform/error-handler.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Route } from '#server/platform/route.ts';

interface Needs {
  licenses: LicenseStore;
  changeLicense: ChangeLicense;
  findPlan: PlanStore['findToUse'];
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  defaultProduct: string;
  logger: Logger;
  /** The clock that notices are sent by. */
  noticeTime: Clock;
}

interface Licenses {
  /** @param devices to show and to release a license's devices */
  publicRoutes(devices: Pick<ActivationService, 'listDevices' | 'release'>): Route[];
  adminRoutes: Route[];
  details: LicenseDetails;
  /** Whether a scan would change anything. Call it only while the clock can be trusted. */
  hasNoticesDue(): Promise<boolean>;
}

export function composeLicenses(sequelize: Database, { logger, noticeTime, ...needs }: Needs): Licenses {
  const service = createLicenseService(needs);
  const details = createLicenseDetails(needs);
  const bulk = createLicenseBulk({
    licenses: service,
    describeFailure: (error, call) => describeFailure(logger, error, call.requestId),
  });
  const timeline = createLicenseTimeline({
    licenses: needs.licenses,
    timeline: createLicenseTimelineStore(sequelize),
  });
  const noticeClock = createNoticeClock(createServiceMarkStore(sequelize));
  return {
    async hasNoticesDue() {
      const now = noticeTime.now();
      if (!(await keepsPace({ ...needs, noticeClock }, now))) return true;
      return (await needs.licenses.findNoticeDue(now, 1)).length > 0;
    },
    publicRoutes: (devices) => [
      ...licenseRoutes(service),
      ...licenseApiRoutes({ licenses: service, details, devices }),
    ],
    details,
    adminRoutes: licenseAdminRoutes(service, details, bulk, timeline),
  };
}
