// Wires a move of the database, which needs a data directory without a running server.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { tidyDataDirectory } from './compose-administration.ts';
import {
  type CopiedRows,
  completePostgres,
  copyRowsToPostgres,
} from '#server/database/move/copy-to-postgres.ts';
import { copyToSqlite } from '#server/database/move/copy-to-sqlite.ts';
import { inLongTransaction, onLongConnections } from '#server/database/move/long-transaction.ts';
import { aboutMove, aboutPartialMove, MoveError } from '#server/database/move/move-error.ts';
import { settleMoveMark } from '#server/database/move/move-mark.ts';
import type { OnProgress } from '#server/database/move/move-progress.ts';
import { refuseOtherServers } from '#server/database/move/move-target.ts';
import { lockTables } from '#server/database/move/postgres-tables.ts';
import type { DatabaseLocation } from '#server/database/connect.ts';
import { checkpoint } from '#server/database/checkpoint.ts';
import { migrate } from '#server/database/migrate.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseFile, databaseLocation } from '#server/installation/database-location.ts';
import {
  folderForMoved,
  forgetMove,
  incomingFile,
  settleMoveFiles,
  writeMove,
} from '#server/installation/database-move.ts';
import { refuseExposedFiles } from '#server/installation/exposed-files.ts';
import { databaseName, isFileMissing, missingSetting } from '#server/installation/installation.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import {
  createSqliteFile,
  installationOf,
  markMoved,
  type Move,
  type MoveReport,
  type MoveTarget,
  precedingSettings,
  prepareTarget,
  recordMove,
  refuseExistingFile,
  report,
  settingsAfter,
  settleEarlierMove,
  toSqliteOrBack,
  withDatabase,
  writeSetting,
} from './move-steps.ts';

/** Another command finishes sooner than this; a server does not. */
const LOCK_WAIT_MS = 2000;
/** Building an index and comparing a table each keep one core of PostgreSQL busy. */
const CONNECTIONS = 3;

/** Migrates the source as its next start would, and writes its log back into the file. */
function prepareSqlite(location: DatabaseLocation): Promise<string | null> {
  return withDatabase(location, async (sequelize) => {
    await migrate(sequelize, createTransactions(sequelize));
    await checkpoint(sequelize, 'TRUNCATE');
    return installationOf(sequelize);
  });
}

/** What follows the setting, after which the old database must not be used again. */
async function complete(move: Move, lastSteps: () => void | Promise<void>): Promise<void> {
  try {
    await lastSteps();
  } catch (error) {
    const [from, to] = [databaseName(move.source), databaseName(move.target)];
    const state = `the data was moved, and the settings name ${to}; start the server of this data directory, which completes the move`;
    throw aboutPartialMove(error, move.target.url === null ? from : to, state);
  }
}

async function toPostgres(move: Move, setting: Record<string, string>): Promise<MoveReport> {
  const { config, source, target, onProgress } = move;
  const { dataDir } = config;
  const [from, to] = [databaseName(source), databaseName(target)];
  if (isFileMissing(source))
    throw new MoveError(`there is nothing to move: ${source.file} is missing or empty`);
  const installation = await prepareSqlite(source);
  return withDatabase(target, async (sequelize) => {
    const startedAt = performance.now();
    const mark = { id: randomUUID(), other: from, installation, since: clock.now() };
    const copied: CopiedRows = await inLongTransaction(sequelize, async (connection) => {
      await prepareTarget(sequelize, connection, to, mark);
      return copyRowsToPostgres({ connection, file: source.file, onProgress });
    });
    await onLongConnections(sequelize, CONNECTIONS, (connections) =>
      completePostgres(connections, copied, onProgress),
    );
    await recordMove(sequelize, move);
    const before = folderForMoved(dataDir, clock.now());
    writeMove(dataDir, { id: mark.id, from, to, before });
    writeSetting(dataDir, setting);
    const seconds = (performance.now() - startedAt) / 1000;
    await complete(move, async () => {
      settleMoveFiles(dataDir, target);
      await settleMoveMark(sequelize, mark.id);
      forgetMove(dataDir);
    });
    return { ...report(move, copied.digests, seconds), before: join(dataDir, before), remove: [] };
  });
}

/** Up to the setting. */
async function copyAndName(move: Move): Promise<MoveReport> {
  const { config, source, target, onProgress } = move;
  const { dataDir } = config;
  const [from, to] = [databaseName(source), databaseName(target)];
  refuseExistingFile(target);
  const file = incomingFile(dataDir);
  let startedAt = 0;
  const tables = await withDatabase(source, async (sequelize) => {
    await settleMoveMark(sequelize, null);
    await migrate(sequelize, createTransactions(sequelize));
    startedAt = performance.now();
    const installation = await installationOf(sequelize);
    const id = randomUUID();
    await createSqliteFile(file);
    const copies = await inLongTransaction(
      sequelize,
      async (connection) => {
        await lockTables(connection);
        await refuseOtherServers(connection, from);
        const { signal } = new AbortController();
        const copied = await copyToSqlite({ connection, file, without: [], signal, onProgress });
        await markMoved(sequelize, dataDir, { id, from, to, installation });
        return copied;
      },
      { isSnapshot: true },
    );
    await withDatabase({ url: null, file }, async (copy) => {
      await recordMove(copy, move);
      await checkpoint(copy, 'TRUNCATE');
    });
    return copies;
  });
  writeSetting(dataDir, {});
  const seconds = (performance.now() - startedAt) / 1000;
  return { ...report(move, tables, seconds), before: null, remove: precedingSettings(config) };
}

async function toSqlite(move: Move): Promise<MoveReport> {
  const { dataDir } = move.config;
  const moved = await toSqliteOrBack(move, copyAndName);
  // Otherwise the present settings still name PostgreSQL.
  if (moved.remove.length === 0)
    await complete(move, () => {
      settleMoveFiles(dataDir, move.target);
      forgetMove(dataDir);
    });
  return moved;
}

function runMove(move: Move, target: MoveTarget): Promise<MoveReport> {
  const setting = settingsAfter(move.source, target);
  return setting === null ? toSqlite(move) : toPostgres(move, setting);
}

/**
 * Copies everything to the other database, compares it, and changes the settings. Until that last step, nothing has
 * changed for a server.
 * @param userName the OS user, for the audit log
 * @throws DataDirectoryError if a server is running there; MoveError, ConfigError, NewerDatabaseError,
 *   UnusableDatabaseError
 */
export async function moveDatabase(
  config: Config,
  target: MoveTarget,
  userName: string,
  onProgress: OnProgress,
): Promise<MoveReport> {
  const { dataDir } = config;
  const source = databaseLocation(config);
  const location = { url: target.url, file: databaseFile(dataDir) };
  prepareDataDirectory(dataDir);
  const lock = await takeDataDirectory(dataDir, LOCK_WAIT_MS);
  try {
    refuseExposedFiles(config);
    await tidyDataDirectory(config);
    await settleEarlierMove(dataDir, source);
    const problem = missingSetting(dataDir, source);
    if (problem) throw problem;
    return await runMove({ config, source, target: location, userName, onProgress }, target);
  } catch (error) {
    const remote = [source, location].find(({ url }) => url !== null);
    throw aboutDatabase(remote ? aboutMove(error, databaseName(remote)) : error, source);
  } finally {
    await lock.release();
  }
}
