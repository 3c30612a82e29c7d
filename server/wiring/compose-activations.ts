// Wires devices: activations, license file validation, offline devices.
import {
  activationAdminRoutes,
  activationRoutes,
  airGapRoutes,
} from '#server/features/activations/activation-routes.ts';
import { createActivationService } from '#server/features/activations/activation-service.ts';
import { createActivationStore } from '#server/features/activations/activation-store.ts';
import { createAirGapService } from '#server/features/activations/air-gap-service.ts';
import { createOfflineValidationService } from '#server/features/activations/offline-validation-service.ts';
import { createDeviceReplacement } from '#server/features/activations/device-replacement.ts';
import { createDeviceSeats } from '#server/features/activations/device-seats.ts';
import { createDeviceSightings } from '#server/features/activations/device-sightings.ts';
import { createDeviceLimit } from '#server/features/activations/device-limit.ts';
import { createDeviceSurgeWatch } from '#server/features/activations/device-surge.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Audit } from '#server/features/audit/audit-service.ts';
import type { DeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import type { Database } from '#server/database/connect.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { SharedCounts } from '#server/platform/shared-counts.ts';
import type { LicenseFiles } from '#server/features/signing/license-file-service.ts';

interface Needs {
  licenses: LicenseStore;
  files: LicenseFiles;
  audit: Audit;
  events: Events;
  transaction: RunTransaction;
  clock: Clock;
  isClockTrusted(): boolean;
  logger: Logger;
  alerts: AlertBoard;
  denials: Pick<DeniedCallLog, 'record'>;
  fileTtlDays: number;
  /** New devices per minute and license; 0 for no limit. */
  deviceLimit: number;
  sharedCounts: SharedCounts;
  onFileRecorded(): void;
  /** Call it for every change: lists that begin later show it. */
  noteChange(): void;
}

export function composeActivations(sequelize: Database, needs: Needs) {
  const { logger } = needs;
  const store = createActivationStore(sequelize, needs.onFileRecorded);
  const sightings = createDeviceSightings({
    ...needs,
    markSeen: store.markSeen,
    onWritten: needs.noteChange,
    onError: (error) =>
      logger.error({ err: error as Error }, 'cannot write when devices were last seen; retrying'),
  });
  const takeSeat = createDeviceSeats({ ...needs, activations: store });
  const shared = { ...needs, activations: store, sightings, takeSeat };
  const surges = createDeviceSurgeWatch(shared);
  const limit = createDeviceLimit(needs.deviceLimit, needs.clock, needs.sharedCounts);
  const activations = createActivationService({ ...shared, limit, surges });
  const replace = createDeviceReplacement({ ...shared, surges });
  const offline = createOfflineValidationService(shared);
  const airGap = createAirGapService(shared);
  return {
    surges,
    sightings,
    devices: activations,
    publicRoutes: activationRoutes(activations, offline),
    adminRoutes: [...activationAdminRoutes(activations, replace), ...airGapRoutes(airGap)],
  };
}
