import { implement, type Route } from '#server/platform/route.ts';
import { byRef } from '#server/rules/license-reference.ts';
import { activationAdminContract, activationContract } from './activation-contract.ts';
import type { ActivationService } from './activation-service.ts';
import type { DeviceReplacement } from './device-replacement.ts';
import { offlineDeskContract } from './offline-desk-contract.ts';
import type { OfflineDeskService } from './offline-desk-service.ts';
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

export function offlineDeskRoutes(desk: OfflineDeskService): Route[] {
  return implement(offlineDeskContract, {
    previewOfflineRequest: ({ request }) => desk.previewRequest(request),
    explainLicenseFile: (request) => desk.explainFile(request),
    issueLicenseFile: (request, call) => desk.issueFile(request, call),
  });
}
