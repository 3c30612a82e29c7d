// Wires the health of the service.
import { sqlOf } from '#server/database/sql.ts';
import { createHealthService, type HealthService } from '#server/features/health/health-service.ts';
import { VERSION } from '#server/installation/version.ts';
import type { Cluster } from './compose-cluster.ts';
import type { Installation } from './compose-installation.ts';
import type { StorageReports } from './compose-storage.ts';
import type { ServiceEnvironment } from './service.ts';

export function composeHealth(
  { sequelize, watch }: Installation,
  around: ServiceEnvironment,
  cluster: Cluster,
  storage: () => StorageReports,
): HealthService {
  const ping = sqlOf(sequelize).statement('SELECT 1');
  return createHealthService({
    clock: around.clock,
    version: VERSION,
    pingDatabase: watch ? async () => watch.check() : () => ping.all(),
    jobsAreFine: around.jobsAreFine,
    storage,
    isClockTrusted: () => around.isClockTrusted() && cluster.isClockNear(),
    isDraining: around.isDraining,
  });
}
