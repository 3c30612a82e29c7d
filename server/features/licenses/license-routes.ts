import { implement, type Route } from '#server/platform/route.ts';
import type { LicenseBulk } from './license-bulk.ts';
import { licenseAdminContract, licenseContract } from './license-contract.ts';
import type { LicenseDetails } from './license-details.ts';
import { byIdOrKey, byRef } from '#server/rules/license-reference.ts';
import type { LicenseService } from './license-service.ts';
import type { LicenseTimeline } from './license-timeline.ts';
import { publicLicense } from '#server/rules/license-presenter.ts';

export function licenseRoutes(licenses: Pick<LicenseService, 'renew' | 'upgrade'>): Route[] {
  return implement(licenseContract, {
    async renew(request, call) {
      const reply = await licenses.renew(byIdOrKey(request), request, call);
      return { ...reply, license: publicLicense(reply.license) };
    },
    async upgrade(request, call) {
      const reply = await licenses.upgrade(byIdOrKey(request), request.plan, call);
      return { ...reply, license: publicLicense(reply.license) };
    },
  });
}

export function licenseAdminRoutes(
  licenses: LicenseService,
  details: LicenseDetails,
  bulk: LicenseBulk,
  timeline: LicenseTimeline,
): Route[] {
  return implement(licenseAdminContract, {
    createLicense: (request, call) => licenses.create(request, call),
    listLicenses: (request) => licenses.list(request),
    countLicenses: (request) => licenses.count(request),
    showLicense: ({ ref }) => licenses.show(byRef(ref, 'ref')),
    revokeLicense: ({ ref, reason }, call) => licenses.revoke(byRef(ref, 'ref'), reason, call),
    renewLicense: ({ ref, ...renewal }, call) => licenses.renew(byRef(ref, 'ref'), renewal, call),
    updateLicense: ({ ref, ...changes }, call) => details.update(byRef(ref, 'ref'), changes, call),
    renewLicenses: ({ license_ids, days }, call) => bulk.renew(license_ids, days, call),
    revokeLicenses: ({ license_ids, reason }, call) => bulk.revoke(license_ids, reason, call),
    licenseTimeline: ({ license, cursor, limit }) => timeline.list(byRef(license), cursor, limit),
    upgradeLicense: ({ ref, plan }, call) => licenses.upgrade(byRef(ref, 'ref'), plan, call),
  });
}
