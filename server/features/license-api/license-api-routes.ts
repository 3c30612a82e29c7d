import type { ActivationService } from '#server/features/activations/activation-service.ts';
import { implement, type Route } from '#server/platform/route.ts';
import { byIdOrKey } from '#server/rules/license-reference.ts';
import { licenseApiContract, SHOWN_DEVICES } from './license-api-contract.ts';
import type { LicenseDetails } from '#server/features/licenses/license-details.ts';
import type { LicenseService } from '#server/features/licenses/license-service.ts';

interface Services {
  licenses: Pick<LicenseService, 'create' | 'list' | 'show' | 'revoke'>;
  details: LicenseDetails;
  devices: Pick<ActivationService, 'listDevices' | 'release'>;
}

export function licenseApiRoutes({ licenses, details, devices }: Services): Route[] {
  return implement(licenseApiContract, {
    listLicenses: (request) => licenses.list({ ...request, sort: 'created' }),
    createLicense: (request, call) => licenses.create(request, call),
    updateLicense: (request, call) => details.update(byIdOrKey(request), request, call),
    async showLicense(request) {
      const reference = byIdOrKey(request);
      const { license } = await licenses.show(reference);
      const { items } = await devices.listDevices(reference, { limit: SHOWN_DEVICES });
      return { license, devices: items };
    },
    revokeLicense: (request, call) => licenses.revoke(byIdOrKey(request), request.reason, call),
    releaseDevice: (request, call) => devices.release(byIdOrKey(request), request.machine_fingerprint, call),
  });
}
