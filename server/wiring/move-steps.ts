// The steps that a move of a stopped and of a running installation share.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { CopiedTable } from '#server/database/move/compare-tables.ts';
import { aboutPartialMove, MoveError } from '#server/database/move/move-error.ts';
import { type MoveMark, setMoveMark, settleMoveMark } from '#server/database/move/move-mark.ts';
import type { OnProgress } from '#server/database/move/move-progress.ts';
import {
  dropTables,
  leftoversOf,
  refuseOtherServers,
  requireUsable,
} from '#server/database/move/move-target.ts';
import { migrate } from '#server/database/migrate.ts';
import type { PostgresConnection } from '#server/database/postgres-connection.ts';
import { connect, type Database, type DatabaseLocation } from '#server/database/connect.ts';
import { createTransactions } from '#server/database/transaction.ts';
import { createAuditService } from '#server/features/audit/audit-service.ts';
import { createAuditStore } from '#server/features/audit/audit-store.ts';
import { recordSecurityEvent } from '#server/features/audit/security-events.ts';
import { createSigningKeyStore } from '#server/features/signing/signing-key-store.ts';
import {
  folderForMoved,
  forgetMove,
  removeIncoming,
  settleMoveFiles,
  writeMove,
} from '#server/installation/database-move.ts';
import { databaseName, isFileMissing } from '#server/installation/installation.ts';
import { cliCall } from '#server/platform/call.ts';
import { systemClock as clock } from '#server/platform/clock.ts';
import { type Config, ConfigError, configFilePath, readConfigFile } from '#server/platform/config.ts';
import { readDatabaseUrl } from '#server/platform/database-url.ts';
import { writeFileDurably } from '#server/platform/durable-file.ts';
import { osUserName } from '#server/platform/os-user.ts';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { settingKey, SETTINGS } from '#server/platform/settings.ts';

/** SQLite, or PostgreSQL. `file`: the file that holds the URL, if it came from one; the settings will then name the file. */
export type MoveTarget = { url: null } | { url: string; file: string | null };

export interface MoveReport {
  from: string;
  to: string;
  rows: number;
  tables: CopiedTable[];
  /** How long neither database could be written to. */
  seconds: number;
  /** The folder with the SQLite file from before. */
  before: string | null;
  /** Settings that have to be removed by hand before the next start, as they take precedence over `config.json`. */
  remove: string[];
}

export interface Move {
  config: Config;
  source: DatabaseLocation;
  target: DatabaseLocation;
  userName: string;
  onProgress: OnProgress;
}

const KEYS = { url: settingKey(SETTINGS.databaseUrl), file: settingKey(SETTINGS.databaseUrlFile) };

/**
 * The one step that decides which database the next start uses.
 * @param setting what names PostgreSQL; empty for SQLite
 */
export function writeSetting(dataDir: string, setting: Readonly<Record<string, string>>): void {
  const file = readConfigFile(dataDir);
  const changes = { [KEYS.url]: null, [KEYS.file]: null, ...setting };
  const next = Object.entries({ ...file, ...changes }).filter(([, value]) => value !== null);
  const text = `${JSON.stringify(Object.fromEntries(next), null, 2)}\n`;
  const path = configFilePath(dataDir);
  try {
    writeFileDurably(path, text);
  } catch (error) {
    // It may fail after the rename, when the next start uses the new database: this one must not go on with the old one.
    if (!existsSync(path) || readFileSync(path, 'utf8') !== text) throw error;
  }
}

/** Undoes or completes a move that was interrupted, as the next start would. */
export async function settleEarlierMove(dataDir: string, source: DatabaseLocation): Promise<void> {
  const earlier = settleMoveFiles(dataDir, source);
  if (earlier && source.url !== null)
    await withDatabase(source, (sequelize) => settleMoveMark(sequelize, earlier.id));
  forgetMove(dataDir);
  removeIncoming(dataDir);
}

/** Runs a move to SQLite up to the setting. If it fails, PostgreSQL stays in use, which may be marked as moved by then. */
export async function toSqliteOrBack<AnyMove extends Move>(
  move: AnyMove,
  run: (move: AnyMove) => Promise<MoveReport>,
): Promise<MoveReport> {
  const { config, source } = move;
  try {
    return await run(move);
  } catch (error) {
    const isUndone = await settleEarlierMove(config.dataDir, source).then(
      () => true,
      () => false,
    );
    if (isUndone) throw error;
    const name = databaseName(source);
    const state = `${name} stays in use, but may refuse changes until a start of the server of this data directory, or another run of the move, has undone this one`;
    throw aboutPartialMove(error, name, state);
  }
}

/** In the copy, after it was compared. */
export async function recordMove(copy: Database, move: Move): Promise<void> {
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
export async function installationOf(sequelize: Database): Promise<string | null> {
  const keys = await createSigningKeyStore(sequelize).list();
  return keys.toSorted((a, b) => a.createdAt - b.createdAt)[0]?.keyId ?? null;
}

/** A move to PostgreSQL, in the transaction of `connection`: empties the database, marks it and creates the tables. */
export async function prepareTarget(
  sequelize: Database,
  connection: PostgresConnection,
  to: string,
  mark: Omit<MoveMark, 'state'>,
): Promise<void> {
  await requireUsable(connection, to);
  await refuseOtherServers(connection, to);
  await dropTables(connection, await leftoversOf(sequelize, connection, to, mark.installation));
  await setMoveMark(sequelize, { ...mark, state: 'incoming' });
  await migrate(sequelize, createTransactions(sequelize));
}

/** @throws MoveError */
export function refuseExistingFile(target: DatabaseLocation): void {
  if (!isFileMissing(target))
    throw new MoveError(`${target.file} exists already; move it away, or choose another --data-dir`);
}

/** Creates the file that the rows are copied to. */
export const createSqliteFile = (file: string): Promise<void> =>
  withDatabase({ url: null, file }, (copy) => migrate(copy, createTransactions(copy)), { create: true });

/** The last step of a move to SQLite in the transaction that has copied the rows. */
export async function markMoved(
  sequelize: Database,
  dataDir: string,
  { id, from, to, installation }: { id: string; from: string; to: string; installation: string | null },
): Promise<void> {
  // Written first, so that a start on PostgreSQL recognizes the mark as its own and removes it.
  writeMove(dataDir, { id, from, to, before: folderForMoved(dataDir, clock.now()) });
  await setMoveMark(sequelize, { id, state: 'moved', other: to, installation, since: clock.now() });
}

export async function withDatabase<Result>(
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

export function report({ source, target }: Move, tables: CopiedTable[], seconds: number) {
  const rows = tables.reduce((sum, table) => sum + table.rows, 0);
  return { from: databaseName(source), to: databaseName(target), rows, tables, seconds };
}

/** Where a setting that names PostgreSQL is given besides `config.json`. */
export function precedingSettings({ given }: Config): string[] {
  return (['databaseUrl', 'databaseUrlFile'] as const).flatMap((name) => {
    const { source } = given[name];
    if (source === 'flag') return [`--${SETTINGS[name].flag}`];
    return source === 'environment' ? [SETTINGS[name].env] : [];
  });
}

/**
 * @returns the settings that name PostgreSQL as the new database; null for a move to SQLite
 * @throws ConfigError if the data is there already
 */
export function settingsAfter(source: DatabaseLocation, target: MoveTarget): Record<string, string> | null {
  if (target.url === null) {
    if (source.url === null)
      throw new ConfigError(
        `the data is in SQLite already, in ${source.file}; --to must be a PostgreSQL URL`,
      );
    return null;
  }
  if (source.url !== null)
    throw new ConfigError(
      `the data is in PostgreSQL already (${databaseName(source)}); --to must be sqlite. To change the server, move to SQLite first`,
    );
  return target.file === null ? { [KEYS.url]: target.url } : { [KEYS.file]: target.file };
}

/**
 * The next start reads the URL from the file, as the user of this server, to whom a file of the command may be closed.
 * @throws ConfigError unless this process reads the URL in it
 */
export function requireUrlInFile({ url, file }: { url: string; file: string | null }): void {
  if (file === null) return;
  const remedy = `; let the user ${osUserName()}, as whom the server runs, read the file with the URL, for example with chown`;
  let found: string | null;
  try {
    found = readDatabaseUrl({ databaseUrl: null, databaseUrlFile: file });
  } catch (error) {
    throw new ConfigError(`the server could not start again: ${(error as Error).message}${remedy}`, {
      cause: error,
    });
  }
  if (found === SETTINGS.databaseUrl.parse(url)) return;
  throw new ConfigError(
    `the server finds a different URL in ${file} than the command; name a file that is the same for both`,
  );
}
