import { implement, type Route } from '#server/platform/route.ts';
import { byRef } from '#server/rules/license-reference.ts';
import { activationAdminContract, activationContract } from './activation-contract.ts';
import type { ActivationService } from './activation-service.ts';
import type { DeviceReplacement } from './device-replacement.ts';
import { airGapContract } from './air-gap-contract.ts';
import type { AirGapService } from './air-gap-service.ts';
import type { OfflineValidationService } from './offline-validation-service.ts';

export function activationRoutes(activations: ActivationService, offline: OfflineValidationService): Route[] {
  return implement(activationContract, {
    activate: (request, call) => activations.activate(request, call),
    validateOffline: (request) => offline.validate(request),
  });
}

export function activationAdminRoutes(activations: ActivationService, replace: DeviceReplacement): Route[] {
  return implement(activationAdminContract, {
    listDevices: ({ ref, ...page }) => activations.listDevices(byRef(ref, 'ref'), page),
    releaseDevice: ({ ref, machine_fingerprint: fingerprint }, call) =>
      activations.release(byRef(ref, 'ref'), fingerprint, call),
    replaceDevice: ({ ref, ...request }, call) => replace(byRef(ref, 'ref'), request, call),
    activateOffline: (request, call) => activations.activateOffline(request, call),
  });
}

export function airGapRoutes(airGap: AirGapService): Route[] {
  return implement(airGapContract, {
    previewOfflineRequest: ({ request }) => airGap.previewRequest(request),
    explainLicenseFile: (request) => airGap.explainFile(request),
    issueLicenseFile: (request, call) => airGap.issueFile(request, call),
  });
}
