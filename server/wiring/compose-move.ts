// Wires a move of the database, which needs a data directory without a running server.
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { tidyDataDirectory } from './compose-administration.ts';
import {
  type CopiedRows,
  completePostgres,
  copyRowsToPostgres,
} from '#server/database/move/copy-to-postgres.ts';
import type { CopiedTable } from '#server/database/move/compare-tables.ts';
import { copyToSqlite } from '#server/database/move/copy-to-sqlite.ts';
import { inLongTransaction, onLongConnections } from '#server/database/move/long-transaction.ts';
import { aboutMove, MoveError } from '#server/database/move/move-error.ts';
import { setMoveMark, settleMoveMark } from '#server/database/move/move-mark.ts';
import type { OnProgress } from '#server/database/move/move-progress.ts';
import {
  dropTables,
  leftoversOf,
  refuseOtherServers,
  requireUsable,
} from '#server/database/move/move-target.ts';
import { lockTables } from '#server/database/move/postgres-tables.ts';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import { checkpoint } from '#server/database/checkpoint.ts';
import { migrate } from '#server/database/migrate.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';
import { createSigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseFile, databaseLocation } from '#server/installation/database-location.ts';
import {
  folderForMoved,
  forgetMove,
  incomingFile,
  removeIncoming,
  settleMoveFiles,
  writeMove,
} from '#server/installation/database-move.ts';
import { refuseExposedFiles } from '#server/installation/exposed-files.ts';
import { databaseName, isFileMissing } from '#server/installation/installation.ts';
import { cliCall } from '#server/platform/call.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import { type Config, ConfigError, configFilePath, readConfigFile } from '#server/platform/config.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';

/** Another command finishes sooner than this; a server does not. */
const LOCK_WAIT_MS = 2000;
/** Building an index and comparing a table each keep one core of PostgreSQL busy. */
const CONNECTIONS = 3;

/** SQLite, or PostgreSQL. `file`: the file that holds the URL, if it came from one; the settings will then name the file. */
export type MoveTarget = { url: null } | { url: string; file: string | null };

export interface MoveReport {
  from: string;
  to: string;
  rows: number;
  tables: readonly CopiedTable[];
  /** How long neither database could be written to. */
  seconds: number;
  /** The folder with the SQLite file from before. */
  before: string | null;
  /** Settings that have to be removed by hand before the next start, as they take precedence over `config.json`. */
  remove: readonly string[];
}

interface Move {
  config: Config;
  source: DatabaseLocation;
  target: DatabaseLocation;
  userName: string;
  onProgress: OnProgress;
}

/** The one step that decides which database the next start uses. */
function writeSetting(dataDir: string, changes: Readonly<Record<string, string | null>>): void {
  const file = readConfigFile(dataDir);
  const next = Object.entries({ ...file, ...changes }).filter(([, value]) => value !== null);
  writeFileDurably(configFilePath(dataDir), `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`);
}

const KEYS = { url: settingKey(SETTINGS.databaseUrl), file: settingKey(SETTINGS.databaseUrlFile) };

/** In the copy, after it was compared. */
async function recordMove(copy: Database, move: Move): Promise<void> {
  const { config, source, target, userName } = move;
  const security = createSecurityLog(join(config.dataDir, 'logs'), () => {});
  const audit = createAuditService({
    entries: createAuditStore(copy),
    clock,
    onRecorded: (entry) => recordSecurityEvent(security, entry),
  });
  const [before, after] = [source, target].map((location) => ({ database: databaseName(location) }));
  await createTransactions(copy)(() =>
    audit.record(cliCall(userName), 'database.moved', 'database', before ?? null, after ?? null),
  );
  await security.close();
}

/** Of the first signing key, which no other installation has. */
async function installationOf(sequelize: Database): Promise<string | null> {
  const keys = await createSigningKeyStore(sequelize).list();
  return keys.toSorted((a, b) => a.createdAt - b.createdAt)[0]?.keyId ?? null;
}

async function withDatabase<Result>(
  location: DatabaseLocation,
  work: (sequelize: Database) => Promise<Result>,
  { create = false } = {},
): Promise<Result> {
  const sequelize = await connect(location, { create });
  try {
    return await work(sequelize);
  } finally {
    await sequelize.close();
  }
}

/** Migrates the source as its next start would, and writes its log back into the file. */
function prepareSqlite(location: DatabaseLocation): Promise<string | null> {
  return withDatabase(location, async (sequelize) => {
    await migrate(sequelize, createTransactions(sequelize));
    await checkpoint(sequelize, 'TRUNCATE');
    return installationOf(sequelize);
  });
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
    const mark = {
      id: randomUUID(),
      state: 'incoming',
      other: from,
      installation,
      since: clock.now(),
    } as const;
    const copied: CopiedRows = await inLongTransaction(sequelize, async (connection) => {
      await requireUsable(connection, to);
      await refuseOtherServers(connection, to);
      await dropTables(connection, await leftoversOf(sequelize, connection, to, installation));
      await setMoveMark(sequelize, mark);
      await migrate(sequelize, createTransactions(sequelize));
      return copyRowsToPostgres({ connection, file: source.file, onProgress });
    });
    await onLongConnections(sequelize, CONNECTIONS, (connections) =>
      completePostgres(connections, copied, onProgress),
    );
    await recordMove(sequelize, move);
    const before = folderForMoved(dataDir, clock.now());
    writeMove(dataDir, { id: mark.id, from, to, before });
    writeSetting(dataDir, { [KEYS.url]: null, [KEYS.file]: null, ...setting });
    const seconds = (performance.now() - startedAt) / 1000;
    settleMoveFiles(dataDir, target);
    await settleMoveMark(sequelize, mark.id);
    forgetMove(dataDir);
    return { ...report(move, copied.digests, seconds), before: join(dataDir, before), remove: [] };
  });
}

function report({ source, target }: Move, tables: readonly CopiedTable[], seconds: number) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { from: databaseName(source), to: databaseName(target), rows, tables, seconds };
}

/** Where a setting that names PostgreSQL is given besides `config.json`. */
function precedingSettings({ given }: Config): string[] {
  return (['databaseUrl', 'databaseUrlFile'] as const).flatMap((name) => {
    const { source } = given[name];
    if (source === 'flag') return [`--${SETTINGS[name].flag}`];
    return source === 'environment' ? [SETTINGS[name].env] : [];
  });
}

async function toSqlite(move: Move): Promise<MoveReport> {
  const { config, source, target, onProgress } = move;
  const { dataDir } = config;
  const [from, to] = [databaseName(source), databaseName(target)];
  if (!isFileMissing(target))
    throw new MoveError(`${target.file} exists already; move it away, or choose another --data-dir`);
  const file = incomingFile(dataDir);
  const remove = precedingSettings(config);
  return withDatabase(source, async (sequelize) => {
    await settleMoveMark(sequelize, null);
    await migrate(sequelize, createTransactions(sequelize));
    const startedAt = performance.now();
    const installation = await installationOf(sequelize);
    const id = randomUUID();
    const copyOf = { url: null, file };
    await withDatabase(copyOf, (copy) => migrate(copy, createTransactions(copy)), { create: true });
    const tables = await inLongTransaction(
      sequelize,
      async (connection) => {
        await lockTables(connection);
        await refuseOtherServers(connection, from);
        const { signal } = new AbortController();
        const copied = await copyToSqlite({ connection, file, without: [], signal, onProgress });
        // Written first, so that a start on PostgreSQL recognizes the mark as its own and removes it.
        writeMove(dataDir, { id, from, to, before: folderForMoved(dataDir, clock.now()) });
        await setMoveMark(sequelize, { id, state: 'moved', other: to, installation, since: clock.now() });
        return copied;
      },
      { isSnapshot: true },
    );
    await withDatabase(copyOf, async (copy) => {
      await recordMove(copy, move);
      await checkpoint(copy, 'TRUNCATE');
    });
    writeSetting(dataDir, { [KEYS.url]: null, [KEYS.file]: null });
    const seconds = (performance.now() - startedAt) / 1000;
    if (remove.length === 0) {
      settleMoveFiles(dataDir, target);
      forgetMove(dataDir);
    }
    return { ...report(move, tables, seconds), before: null, remove };
  });
}

function runMove(move: Move, target: MoveTarget): Promise<MoveReport> {
  const { source } = move;
  if (target.url === null) {
    if (source.url === null)
      throw new ConfigError(
        `the data is in SQLite already, in ${source.file}; --to must be a PostgreSQL URL`,
      );
    return toSqlite(move);
  }
  if (source.url !== null)
    throw new ConfigError(
      `the data is in PostgreSQL already (${databaseName(source)}); --to must be sqlite. To change the server, move to SQLite first`,
    );
  return toPostgres(move, target.file === null ? { [KEYS.url]: target.url } : { [KEYS.file]: target.file });
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
    return await runMove({ config, source, target: location, userName, onProgress }, target);
  } catch (error) {
    const remote = [source, location].find(({ url }) => url !== null);
    throw aboutDatabase(remote ? aboutMove(error, databaseName(remote)) : error, source);
  } finally {
    await lock.release();
  }
}

/** Undoes or completes a move that was interrupted, as the next start would. */
async function settleEarlierMove(dataDir: string, source: DatabaseLocation): Promise<void> {
  const earlier = settleMoveFiles(dataDir, source);
  if (earlier && source.url !== null)
    await withDatabase(source, (sequelize) => settleMoveMark(sequelize, earlier.id));
  forgetMove(dataDir);
  removeIncoming(dataDir);
}
