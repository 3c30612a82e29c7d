// The construction of what watches the storage below the service.
import { stat } from 'node:fs/promises';
import type { AlertBoard } from './alerts/alert-board.ts';
import type { Installation } from './compose-installation.ts';
import { databaseLocation } from './database-location.ts';
import { checkpoint } from './database/checkpoint.ts';
import { faultOf } from './database/database-fault.ts';
import { preparedQuery } from './database/prepared-query.ts';
import { quickCheck } from './database/quick-check.ts';
import type { ControlledGuard } from './database/storage-guard.ts';
import type { Clock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { ApiError } from './platform/errors.ts';
import type { Logger } from './platform/logger.ts';
import { watchDataFiles } from './storage/data-files.ts';
import { readDiskSpace } from './storage/disk-space.ts';
import { createStorageProbeStore } from './storage/storage-probe-store.ts';
import { createStorageService } from './storage/storage-service.ts';
import { watchStorage } from './storage/storage-watch.ts';

interface Needs {
  config: Config;
  guard: ControlledGuard;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  clock: Clock;
  logger: Logger;
}

export function composeStorage({ sequelize, transaction }: Installation, needs: Needs) {
  const { config, guard, alerts, clock, logger } = needs;
  const { dataDir } = config;
  const location = databaseLocation(config);
  const isLocal = location.url === null;
  const walFile = `${location.file}-wal`;
  const probe = createStorageProbeStore(sequelize);
  const storage = createStorageService({
    dataDir,
    isLocal,
    readSpace: () => readDiskSpace(dataDir),
    guard,
    alerts,
    logger,
    write: () => transaction(() => probe.write(clock.now())),
    writerState: transaction.writerState,
    faultOf(error) {
      // A queue that is full of changes is no fault: they are being written.
      if (error instanceof ApiError) return null;
      // Whatever else goes wrong with statements as simple as these is the database's fault.
      return faultOf(error) ?? 'io';
    },
  });
  return {
    ...storage,
    /** Ends when the database has answered a read, or has failed to. */
    readOnce: async (): Promise<void> => {
      await preparedQuery(sequelize)('SELECT 1', []).catch(() => {});
    },
    /** @param settleMs how long the search for damage waits */
    watch: (settleMs: number) =>
      watchStorage({
        storage,
        files: watchDataFiles(dataDir, isLocal ? [location.file, walFile] : []),
        readLogVersion: async () => (isLocal ? (await stat(walFile, { bigint: true })).mtimeNs : null),
        checkpoint: () => checkpoint(sequelize, 'PASSIVE'),
        findDamage: async (signal) => (isLocal ? quickCheck(location.file, signal) : null),
        settleMs,
        logger,
      }),
  };
}

export type StorageReports = ReturnType<typeof composeStorage>;
