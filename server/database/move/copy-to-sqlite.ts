// Copies a PostgreSQL database, as the current transaction sees it, into a new SQLite file, and proves that nothing is
// missing.
import { open } from 'node:fs/promises';
import { removeWhenFreeLater } from '#server/platform/busy-files.ts';
import type { PostgresConnection } from '../postgres-connection.ts';
import { openSqliteFile, type SqliteFile } from '../sqlite-file.ts';
import { type CopiedTable, requireEqual, requireEqualIds } from './compare-tables.ts';
import type { OnProgress } from './move-progress.ts';
import {
  orderOf,
  postgresDigest,
  postgresLastIds,
  requireColumns,
  selectRows,
  tablesIn,
} from './postgres-tables.ts';
import { readAhead } from './read-ahead.ts';
import { deferIndices, rowInserter, setSqliteLastIds, sqliteDigest, sqliteLastIds } from './sqlite-tables.ts';
import { type Column, type TableShape, tableShapes } from './table-shapes.ts';

interface Needs {
  connection: PostgresConnection;
  /** The SQLite file to write to, with the tables of the current schema. */
  file: string;
  /** Tables whose rows are left out. */
  without: readonly string[];
  /** Aborted when the copy is no longer needed. */
  signal: AbortSignal;
  onProgress: OnProgress;
}

const ROWS_AT_ONCE = 2000;

export const LOAD_SETTINGS = [
  // A file that is not complete is thrown away, and a complete one is flushed before it is used.
  'PRAGMA journal_mode = OFF',
  'PRAGMA synchronous = OFF',
  'PRAGMA cache_size = -256000',
  // Checked at the end.
  'PRAGMA foreign_keys = OFF',
  'BEGIN IMMEDIATE',
].join('; ');

const jsonOf = ({ name, kind }: Column) => (kind === 'bytes' ? `encode(${name}, 'hex')` : name);

/** @returns null at the end; otherwise rows as `rowInserter` takes them */
function rowReader(connection: PostgresConnection, { name, columns, key }: TableShape) {
  const row = `json_build_array(${columns.map(jsonOf).join(', ')})`;
  const select = `SELECT CAST(${row} AS TEXT) AS row FROM ${name} ORDER BY ${orderOf(key)}`;
  return {
    open: () => connection.query(`DECLARE copied_rows NO SCROLL CURSOR FOR ${select}`),
    async next(): Promise<{ rows: string; count: number } | null> {
      const found = await selectRows<{ row: string }>(connection, `FETCH ${ROWS_AT_ONCE} FROM copied_rows`);
      if (found.length === 0) return null;
      return { rows: `[${found.map((one) => one.row).join(',')}]`, count: found.length };
    },
    close: () => connection.query('CLOSE copied_rows'),
  };
}

async function copyTable(
  { connection, signal, onProgress }: Needs,
  database: SqliteFile,
  table: TableShape,
): Promise<void> {
  const reader = rowReader(connection, table);
  const insert = rowInserter(database, table);
  let done = 0;
  await reader.open();
  await readAhead(reader.next, async ({ rows, count }) => {
    signal.throwIfAborted();
    await insert(rows);
    done += count;
    onProgress({ step: 'copy', table: table.name, done, total: null });
  });
  await reader.close();
}

export async function requireIntact(database: SqliteFile): Promise<void> {
  const orphans = await database.all('PRAGMA foreign_key_check');
  if (orphans.length > 0) throw new Error(`${orphans.length} rows of the copy refer to missing rows`);
}

async function copyRows(needs: Needs, database: SqliteFile): Promise<CopiedTable[]> {
  const { connection, without, signal, onProgress } = needs;
  const present = new Set(await tablesIn(connection));
  const tables = (await tableShapes(database)).filter(({ name }) => present.has(name));
  await requireColumns(connection, tables);
  const copied = tables.filter(({ name }) => !without.includes(name));
  await database.exec(LOAD_SETTINGS);
  const restoreIndices = await deferIndices(database);
  // What the migrations inserted comes from the source as well.
  for (const { name } of tables) await database.exec(`DELETE FROM ${name}`);
  for (const table of copied) await copyTable(needs, database, table);
  let done = 0;
  await restoreIndices(() => {
    signal.throwIfAborted();
    done += 1;
    onProgress({ step: 'index', table: '', done, total: null });
  });
  const lastIds = await postgresLastIds(connection, tables);
  await setSqliteLastIds(database, lastIds);
  await database.exec('COMMIT');
  await requireIntact(database);
  const digests: CopiedTable[] = [];
  for (const [index, table] of copied.entries()) {
    signal.throwIfAborted();
    const source = await postgresDigest(connection, table);
    requireEqual(table.name, source, await sqliteDigest(database, table));
    digests.push({ name: table.name, ...source });
    onProgress({ step: 'verify', table: table.name, done: index + 1, total: copied.length });
  }
  requireEqualIds(lastIds, await sqliteLastIds(database, tables));
  await database.exec('PRAGMA journal_mode = WAL');
  return digests;
}

export async function flush(file: string): Promise<void> {
  const opened = await open(file, 'r+');
  try {
    await opened.sync();
  } finally {
    await opened.close();
  }
}

/** @throws Error of the source, the target, or DifferentCopyError; the file is removed then */
export async function copyToSqlite(needs: Needs): Promise<CopiedTable[]> {
  const { file, signal } = needs;
  try {
    const database = await openSqliteFile(file);
    let copied: CopiedTable[];
    try {
      copied = await copyRows(needs, database);
    } finally {
      await database.close();
    }
    signal.throwIfAborted();
    await flush(file);
    return copied;
  } catch (error) {
    for (const suffix of ['', '-wal', '-shm']) await removeWhenFreeLater(`${file}${suffix}`);
    throw error;
  }
}
