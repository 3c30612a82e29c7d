// Wires the storage checks.
import { stat } from 'node:fs/promises';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { Installation } from './compose-installation.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { checkpoint } from '#server/database/checkpoint.ts';
import { faultOf } from '#server/platform/database-fault.ts';
import { quickCheck } from '#server/database/quick-check.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { Logger } from '#server/platform/logger.ts';
import { watchDataFiles } from '#server/features/storage/data-files.ts';
import { readDiskSpace } from '#server/features/storage/disk-space.ts';
import { createServiceMarkStore } from '#server/features/storage/service-mark-store.ts';
import { createStorageService } from '#server/features/storage/storage-service.ts';
import { watchStorage } from '#server/features/storage/storage-watch.ts';

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
  const marks = createServiceMarkStore(sequelize);
  const read = sqlOf(sequelize).statement('SELECT 1');
  const storage = createStorageService({
    dataDir,
    isLocal,
    readSpace: () => readDiskSpace(dataDir),
    guard,
    alerts,
    logger,
    write: () => transaction(() => marks.probe(clock.now())),
    writerState: transaction.writerState,
    faultOf(error) {
      // A full queue of changes is not a fault: they are being written.
      if (error instanceof ApiError) return null;
      // Statements this simple can only fail because of the database.
      const fault = faultOf(error) ?? 'io';
      // Reads and authorizations go on, so that load balancers must keep this server.
      return fault === 'moving' || fault === 'moved' ? null : fault;
    },
  });
  return {
    ...storage,
    /** Resolves when the database has answered a read, successfully or not. */
    readOnce: async (): Promise<void> => {
      await read.all().catch(() => {});
    },
    /** @param settleMs how long the damage check waits after the start */
    watch: (settleMs: number) =>
      watchStorage({
        storage,
        takeUse: guard.takeUse,
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
