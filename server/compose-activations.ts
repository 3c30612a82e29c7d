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
import type { Audit } from './audit/audit-service.ts';
import type { Database } from './database/connect.ts';
import type { RunTransaction } from './database/transaction.ts';
import type { Events } from './events/event-service.ts';
import { byKey, byRef, licenseNotFound } from './licenses/license-reference.ts';
import type { LicenseStore } from './licenses/license-store.ts';
import type { Clock } from './platform/clock.ts';
import type { LicenseFiles } from './signing/license-file-service.ts';

interface Needs {
  licenses: LicenseStore;
  files: LicenseFiles;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  fileTtlDays: number;
}

export function composeActivations(sequelize: Database, needs: Needs) {
  const shared = { ...needs, activations: createActivationStore(sequelize), byKey, byRef, licenseNotFound };
  const activations = createActivationService(shared);
  const offline = createOfflineValidationService(shared);
  const desk = createOfflineDeskService(shared);
  return {
    publicRoutes: activationRoutes(activations, offline),
    adminRoutes: [...activationAdminRoutes(activations, byRef), ...offlineDeskRoutes(desk)],
  };
}
