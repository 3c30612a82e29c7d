// The construction of what is about devices: activations, license files that come back, the desk for air-gapped ones.
import {
  activationAdminRoutes,
  activationRoutes,
  offlineDeskRoutes,
} from './activations/activation-routes.ts';
import { createActivationService } from './activations/activation-service.ts';
import { createActivationStore } from './activations/activation-store.ts';
import { createOfflineDeskService } from './activations/offline-desk-service.ts';
import { createOfflineValidationService } from './activations/offline-validation-service.ts';
import { createDeviceLimit } from './activations/device-limit.ts';
import { createDeviceSurgeWatch } from './activations/device-surge.ts';
import type { AlertBoard } from './alerts/alert-board.ts';
import type { Audit } from './audit/audit-service.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import type { Events } from './events/event-service.ts';
import { byKey, byRef, licenseNotFound } from './licenses/license-reference.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import type { Clock } from './platform/clock.ts';
import type { Logger } from './platform/logger.ts';
import type { LicenseFiles } from './signing/license-file-service.ts';

interface Needs {
  licenses: LicenseStore;
  files: LicenseFiles;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  logger: Logger;
  alerts: AlertBoard;
  fileTtlDays: number;
  /** New devices a minute per license; 0: no limit. */
  deviceLimit: number;
}

export function composeActivations(sequelize: Database, needs: Needs) {
  const shared = { ...needs, activations: createActivationStore(sequelize), byKey, byRef, licenseNotFound };
  const surges = createDeviceSurgeWatch(shared);
  const limit = createDeviceLimit(needs.deviceLimit, needs.clock);
  const activations = createActivationService({ ...shared, limit, surges });
  const offline = createOfflineValidationService(shared);
  const desk = createOfflineDeskService(shared);
  return {
    surges,
    publicRoutes: activationRoutes(activations, offline),
    adminRoutes: [...activationAdminRoutes(activations, byRef), ...offlineDeskRoutes(desk)],
  };
}
