// Copies the database of a running server: first while it changes, then, for a short time, while nothing may change.
import { removeWhenFreeLater } from '#server/platform/busy-files.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { openSqliteFile, type SqliteFile } from '../sqlite-file.ts';
import { type CopiedTable, DifferentCopyError, requireEqualIds } from './compare-tables.ts';
import { buildIndices, sharedTables } from './copy-to-postgres.ts';
import { flush, LOAD_SETTINGS, requireIntact } from './copy-to-sqlite.ts';
import { createFollowCopy, type FollowCopy } from './follow-copy.ts';
import { lockAllAtOnce } from './lock-all-at-once.ts';
import type { Connections } from './long-transaction.ts';
import type { OnProgress } from './move-progress.ts';
import { postgresRanges } from './postgres-ranges.ts';
import {
  deferConstraints,
  type DeferredConstraints,
  postgresLastIds,
  selectRows,
  setPostgresLastIds,
} from './postgres-tables.ts';
import { sqliteRanges } from './sqlite-lines.ts';
import { writableRanges } from './sqlite-ranges.ts';
import { countRows, deferIndices, setSqliteLastIds, sqliteLastIds } from './sqlite-tables.ts';
import type { TableShape } from './table-shapes.ts';

/** So many rows that differ are copied in a few seconds. */
const FEW_ROWS = 20_000;
/** On a server that changes more than that all the time, further passes gain nothing. */
const MOST_PASSES = 4;
const LOCK_WAIT_MS = 30_000;

export interface Following {
  onProgress: OnProgress;
  /** @throws if the move was canceled. Not called after `refuseChanges`. */
  check(): void;
  /** Called when the copy is nearly complete: from here on, the server refuses changes. */
  refuseChanges(): void;
}

/**
 * @param run runs one statement where the source is read
 * @returns a pass that reads everything as it was at one moment. Otherwise a unique value that goes from one row to
 *   another meanwhile, such as a device that is activated again, could be copied twice.
 */
function snapshotPass(copy: FollowCopy, run: (sql: string) => Promise<unknown>, begin: string) {
  return async () => {
    await run(begin);
    const result = await copy.pass();
    await run('COMMIT');
    return result;
  };
}

async function catchUp(pass: FollowCopy['pass']): Promise<void> {
  for (let passes = 0; passes < MOST_PASSES; passes += 1) if ((await pass()).changed <= FEW_ROWS) return;
}

function requireCount({ name, rows }: CopiedTable, count: number): void {
  if (count !== rows)
    throw new DifferentCopyError(`the table ${name} has ${rows} rows, but its copy has ${count}`);
}

/** Tables without rows, indices and foreign keys. In a transaction. */
export interface EmptyTables {
  tables: readonly TableShape[];
  constraints: DeferredConstraints;
}

export async function emptyTables(connection: PostgresConnection, file: string): Promise<EmptyTables> {
  const database = await openSqliteFile(file);
  try {
    const tables = await sharedTables(connection, database);
    const constraints = await deferConstraints(connection, tables);
    await connection.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
    return { tables, constraints };
  } finally {
    await database.close();
  }
}

/**
 * @param database the SQLite file that the server uses
 * @returns once the copy is complete; the file stays locked against changes until `database` is closed
 */
export async function followToPostgres(
  connections: Connections,
  database: SqliteFile,
  { tables, constraints }: EmptyTables,
  { onProgress, check, refuseChanges }: Following,
): Promise<CopiedTable[]> {
  const [first] = connections;
  let isLast = false;
  const copy = createFollowCopy({
    source: sqliteRanges(database),
    target: postgresRanges(first),
    tables,
    onProgress,
    check: () => isLast || check(),
  });
  const pass = snapshotPass(copy, (sql) => database.exec(sql), 'BEGIN');
  await pass();
  await buildIndices(connections, constraints, onProgress);
  for (const { name } of tables) await first.query(`VACUUM (ANALYZE) ${name}`);
  await catchUp(pass);
  refuseChanges();
  isLast = true;
  await database.exec(`PRAGMA busy_timeout = ${LOCK_WAIT_MS}; BEGIN IMMEDIATE`);
  const { digests } = await copy.pass();
  for (const digest of digests) {
    const [row] = await selectRows<{ count: number }>(first, `SELECT count(*) AS count FROM ${digest.name}`);
    requireCount(digest, row?.count ?? 0);
  }
  for (const statement of constraints.foreignKeys) await first.query(statement);
  const lastIds = await sqliteLastIds(database, tables);
  await setPostgresLastIds(first, lastIds);
  requireEqualIds(lastIds, await postgresLastIds(first, tables));
  return digests;
}

interface ToSqlite extends Following {
  /** Reads while the database changes. */
  connection: PostgresConnection;
  /** Runs the rest in a transaction that no time limit ends. */
  lastly(work: (connection: PostgresConnection) => Promise<CopiedTable[]>): Promise<CopiedTable[]>;
}

/** @param file with the tables of the current schema; removed if the copy fails */
export async function followToSqlite(
  file: string,
  { connection, onProgress, check, refuseChanges, lastly }: ToSqlite,
): Promise<CopiedTable[]> {
  const database = await openSqliteFile(file);
  try {
    const tables = await sharedTables(connection, database);
    await database.exec(LOAD_SETTINGS);
    const restoreIndices = await deferIndices(database);
    for (const { name } of tables) await database.exec(`DELETE FROM ${name}`);
    let source = connection;
    const copy = createFollowCopy({
      source: {
        keyAfter: (...asked) => postgresRanges(source).keyAfter(...asked),
        read: (...asked) => postgresRanges(source).read(...asked),
      },
      target: writableRanges(database),
      tables,
      onProgress,
      check: () => source !== connection || check(),
    });
    const pass = snapshotPass(
      copy,
      (sql) => connection.query(sql),
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    );
    await pass();
    let built = 0;
    await restoreIndices(() => onProgress({ step: 'index', table: '', done: (built += 1), total: null }));
    await catchUp(pass);
    refuseChanges();
    const digests = await lastly(async (locking) => {
      source = locking;
      await lockAllAtOnce(locking, tables, LOCK_WAIT_MS);
      const last = await copy.pass();
      for (const digest of last.digests) {
        const table = tables.find(({ name }) => name === digest.name) as TableShape;
        requireCount(digest, await countRows(database, table));
      }
      const lastIds = await postgresLastIds(locking, tables);
      await setSqliteLastIds(database, lastIds);
      await database.exec('COMMIT');
      await requireIntact(database);
      requireEqualIds(lastIds, await sqliteLastIds(database, tables));
      await database.exec('PRAGMA journal_mode = WAL');
      await database.close();
      await flush(file);
      return last.digests;
    });
    return digests;
  } catch (error) {
    await database.close();
    for (const suffix of ['', '-wal', '-shm']) await removeWhenFreeLater(`${file}${suffix}`);
    throw error;
  }
}
