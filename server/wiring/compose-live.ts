// Wires live updates.
import type { Database } from '#server/database/connect.ts';
import { isShared } from '#server/database/sql-dialect.ts';
import type { HealthService } from '#server/features/health/health-service.ts';
import { createLookout } from '#server/features/live/live-lookout.ts';
import { createLiveStore } from '#server/features/live/live-store.ts';
import { createLiveStreams, type LiveStreams } from '#server/features/live/live-streams.ts';
import { VERSION } from '#server/installation/version.ts';

export function composeLive(sequelize: Database, health: HealthService): LiveStreams {
  const hasOtherServers = isShared(sequelize);
  const look = createLookout({
    // A SQLite file has only one server, which knows its own changes.
    recent: hasOtherServers ? createLiveStore(sequelize) : null,
    readHealth: () =>
      health.check().then(
        () => 'ok',
        (error: unknown) => (error as Error).message,
      ),
  });
  return createLiveStreams({ version: VERSION, isShared: hasOtherServers, look });
}
