// Wires a move of the database that a running server uses. Its data directory is locked by the server; the last step is the
// same as that of a move without a server, and the next start puts the files in place.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import type { CopiedTable } from '#server/database/move/compare-tables.ts';
import {
  emptyTables,
  type Following,
  followToPostgres,
  followToSqlite,
} from '#server/database/move/follow-moves.ts';
import { inLongTransaction, onLongConnections } from '#server/database/move/long-transaction.ts';
import { aboutMove, MoveError } from '#server/database/move/move-error.ts';
import { openSqliteFile, type SqliteFile } from '#server/database/sqlite-file.ts';
import { committedRestore } from '#server/features/backup/data-files.ts';
import { databaseFile, databaseLocation } from '#server/installation/database-location.ts';
import { folderForMoved, incomingFile, writeMove } from '#server/installation/database-move.ts';
import { databaseName } from '#server/installation/installation.ts';
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
  requireUrlInFile,
  settingsAfter,
  settleEarlierMove,
  toSqliteOrBack,
  withDatabase,
  writeSetting,
} from './move-steps.ts';

/** Building an index keeps one core of PostgreSQL busy. */
const CONNECTIONS = 3;

interface LiveMove extends Move, Pick<Following, 'check' | 'refuseChanges'> {
  /** Of the server that runs. */
  sequelize: Database;
  /** How many other servers use the database. */
  otherServers(): Promise<number>;
}

/** Kept open: what they lock must not change again before this process ends. */
const locked: SqliteFile[] = [];

/** @throws MoveError if the next start would replace the data that has been moved */
function refuseStagedRestore(dataDir: string): void {
  if (committedRestore(dataDir) === null) return;
  throw new MoveError(
    'a confirmed restore is waiting for a restart of the server; restart it, or cancel the restore first',
  );
}

/** @returns the hooks of the copy, and how long changes have been refused */
function timed({ onProgress, check, refuseChanges }: LiveMove) {
  let refusedAt = 0;
  const following: Following = {
    onProgress,
    check,
    refuseChanges() {
      refusedAt = performance.now();
      refuseChanges();
    },
  };
  return { following, seconds: () => (performance.now() - refusedAt) / 1000 };
}

async function toPostgres(move: LiveMove, setting: Record<string, string>): Promise<MoveReport> {
  const { config, source, target, sequelize: own } = move;
  const { dataDir } = config;
  const [from, to] = [databaseName(source), databaseName(target)];
  const installation = await installationOf(own);
  return withDatabase(target, async (sequelize) => {
    const id = randomUUID();
    const empty = await inLongTransaction(sequelize, async (connection) => {
      await prepareTarget(sequelize, connection, to, { id, other: from, installation, since: clock.now() });
      return emptyTables(connection, source.file);
    });
    const database = await openSqliteFile(source.file);
    const { following, seconds } = timed(move);
    let digests: CopiedTable[] = [];
    try {
      await onLongConnections(sequelize, CONNECTIONS, async (connections) => {
        digests = await followToPostgres(connections, database, empty, following);
      });
      await recordMove(sequelize, move);
      // It may have been confirmed meanwhile.
      refuseStagedRestore(dataDir);
      const before = folderForMoved(dataDir, clock.now());
      writeMove(dataDir, { id, from, to, before });
      writeSetting(dataDir, setting);
      locked.push(database);
      return { ...report(move, digests, seconds()), before: join(dataDir, before), remove: [] };
    } catch (error) {
      await database.close();
      throw error;
    }
  });
}

async function toSqlite(move: LiveMove): Promise<MoveReport> {
  const { config, source, target, sequelize, otherServers } = move;
  const { dataDir } = config;
  const [from, to] = [databaseName(source), databaseName(target)];
  refuseExistingFile(target);
  if ((await otherServers()) > 0)
    throw new MoveError(`other servers use the database ${from}; stop all but this one first`);
  const file = incomingFile(dataDir);
  await createSqliteFile(file);
  const installation = await installationOf(sequelize);
  const { following, seconds } = timed(move);
  let digests: CopiedTable[] = [];
  // The pool of the server may be closed by the lock that its changes wait for.
  const reading = await connect(source);
  try {
    await onLongConnections(reading, 1, async ([connection]) => {
      digests = await followToSqlite(file, {
        ...following,
        connection,
        lastly: (work) =>
          inLongTransaction(reading, async (locking) => {
            const copied = await work(locking);
            if ((await otherServers()) > 0)
              throw new MoveError(`another server has begun to use the database ${from}; stop it first`);
            refuseStagedRestore(dataDir);
            await markMoved(reading, dataDir, { id: randomUUID(), from, to, installation });
            return copied;
          }),
      });
    });
  } finally {
    await reading.close();
  }
  await withDatabase({ url: null, file }, (copy) => recordMove(copy, move));
  writeSetting(dataDir, {});
  return { ...report(move, digests, seconds()), before: null, remove: precedingSettings(config) };
}

/** What a move needs of the server. */
type Around = Pick<
  LiveMove,
  'sequelize' | 'otherServers' | 'onProgress' | 'check' | 'refuseChanges' | 'userName'
>;

/** @throws MoveError or ConfigError; nothing has changed then for a server */
export async function moveWhileServing(
  config: Config,
  { url, file }: { url: string | null; file: string | null },
  around: Around,
): Promise<MoveReport> {
  const target: MoveTarget = url === null ? { url } : { url, file };
  if (target.url !== null) requireUrlInFile(target);
  const source = databaseLocation(config);
  const location: DatabaseLocation = { url: target.url, file: databaseFile(config.dataDir) };
  const setting = settingsAfter(source, target);
  const move = { ...around, config, source, target: location };
  try {
    refuseStagedRestore(config.dataDir);
    await settleEarlierMove(config.dataDir, source);
    return await (setting === null ? toSqliteOrBack(move, toSqlite) : toPostgres(move, setting));
  } catch (error) {
    throw aboutMove(error, databaseName(source.url === null ? location : source));
  }
}
