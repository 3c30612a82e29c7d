// Copies a SQLite file into a PostgreSQL database without tables, and proves that nothing is missing: first the rows, in
// one transaction, then the indices and the proof, on as many connections as there are.
import type { PostgresConnection } from '../postgres-connection.ts';
import { openSqliteFile, type SqliteFile } from '../sqlite-file.ts';
import { type CopiedTable, requireEqual, requireEqualIds } from './compare-tables.ts';
import type { OnProgress } from './move-progress.ts';
import { copyIn } from './postgres-copy.ts';
import {
  deferConstraints,
  type DeferredConstraints,
  postgresDigest,
  postgresLastIds,
  requireColumns,
  setPostgresLastIds,
  tablesIn,
} from './postgres-tables.ts';
import type { Connections } from './long-transaction.ts';
import { readAhead } from './read-ahead.ts';
import { sqliteLines } from './sqlite-lines.ts';
import { countRows, sqliteLastIds } from './sqlite-tables.ts';
import { createDigest, type TableDigest } from './table-digest.ts';
import { columnList, type LastIds, type TableShape, tableShapes } from './table-shapes.ts';

/** Sorting for the indices of a million licenses otherwise goes to the disk. */
const SORT_MEMORY = '256MB';

interface Needs {
  /** In a transaction, with the tables of the current schema and nothing that matters in them. */
  connection: PostgresConnection;
  /** The SQLite file, with the same schema. Nothing changes it meanwhile. */
  file: string;
  onProgress: OnProgress;
}

/** Rows without their indices. */
export interface CopiedRows {
  tables: readonly TableShape[];
  /** Of the source. */
  digests: CopiedTable[];
  lastIds: LastIds;
  constraints: DeferredConstraints;
}

async function copyTable(
  { connection, onProgress }: Needs,
  database: SqliteFile,
  table: TableShape,
): Promise<TableDigest> {
  const digest = createDigest();
  const total = await countRows(database, table);
  // Frozen, as the table was emptied in this transaction: otherwise PostgreSQL reads every row of a count until the first
  // vacuum, and that writes the whole table again.
  const sql = `COPY ${table.name} (${columnList(table.columns)}) FROM STDIN WITH (FREEZE)`;
  let done = 0;
  await readAhead(sqliteLines(database, table), async ({ lines, rows }) => {
    digest.add(lines, rows);
    await copyIn(connection, sql, lines);
    done += rows;
    onProgress({ step: 'copy', table: table.name, done, total });
  });
  return digest.finish();
}

/** Tables of one kind of database, such as those that only several servers need, stay as the migrations made them. */
export async function sharedTables(
  connection: PostgresConnection,
  database: SqliteFile,
): Promise<TableShape[]> {
  const present = new Set(await tablesIn(connection));
  const tables = (await tableShapes(database)).filter(({ name }) => present.has(name));
  await requireColumns(connection, tables);
  return tables;
}

async function copyAll(needs: Needs, database: SqliteFile): Promise<CopiedRows> {
  const { connection } = needs;
  const tables = await sharedTables(connection, database);
  const constraints = await deferConstraints(connection, tables);
  // What the migrations inserted comes from the source as well.
  await connection.query(`TRUNCATE ${tables.map(({ name }) => name).join(', ')}`);
  const digests: CopiedTable[] = [];
  for (const table of tables)
    digests.push({ name: table.name, ...(await copyTable(needs, database, table)) });
  const lastIds = await sqliteLastIds(database, tables);
  await setPostgresLastIds(connection, lastIds);
  return { tables, digests, lastIds, constraints };
}

export async function copyRowsToPostgres(needs: Needs): Promise<CopiedRows> {
  const database = await openSqliteFile(needs.file);
  try {
    // One point in time.
    await database.exec('PRAGMA busy_timeout = 5000; BEGIN');
    return await copyAll(needs, database);
  } finally {
    await database.close();
  }
}

/** Each connection takes the next task when it is done with one. */
async function shareOut(
  connections: readonly PostgresConnection[],
  tasks: readonly ((connection: PostgresConnection) => Promise<void>)[],
): Promise<void> {
  const waiting = [...tasks];
  const work = async (connection: PostgresConnection) => {
    for (let task = waiting.shift(); task; task = waiting.shift()) await task(connection);
  };
  const working = connections.map(work);
  // No task may run on when the caller closes the connections.
  await Promise.allSettled(working);
  await Promise.all(working);
}

async function setSortMemory(connections: Connections): Promise<void> {
  for (const connection of connections) await connection.query(`SET maintenance_work_mem = '${SORT_MEMORY}'`);
}

/** @returns tasks that build the indices, each on the connection that takes it */
function indexTasks({ indices, foreignKeys }: DeferredConstraints, onProgress: OnProgress) {
  let built = 0;
  return (statement: string) => async (connection: PostgresConnection) => {
    await connection.query(statement);
    built += 1;
    onProgress({ step: 'index', table: '', done: built, total: indices.length + foreignKeys.length });
  };
}

export async function buildIndices(
  connections: Connections,
  constraints: DeferredConstraints,
  onProgress: OnProgress,
): Promise<void> {
  await setSortMemory(connections);
  await shareOut(connections, constraints.indices.map(indexTasks(constraints, onProgress)));
}

/** @throws DifferentCopyError, or an error of the database */
export async function completePostgres(
  connections: Connections,
  { tables, digests, lastIds, constraints }: CopiedRows,
  onProgress: OnProgress,
): Promise<void> {
  const [first] = connections;
  await setSortMemory(connections);
  let verified = 0;
  const build = indexTasks(constraints, onProgress);
  const verify = (table: TableShape, index: number) => async (connection: PostgresConnection) => {
    requireEqual(table.name, digests[index] as CopiedTable, await postgresDigest(connection, table));
    verified += 1;
    onProgress({ step: 'verify', table: table.name, done: verified, total: tables.length });
  };
  await shareOut(connections, [...constraints.indices.map(build), ...tables.map(verify)]);
  for (const statement of constraints.foreignKeys) await build(statement)(first);
  // Last, because it waits for indices that are being built.
  for (const { name } of tables) await first.query(`ANALYZE ${name}`);
  requireEqualIds(lastIds, await postgresLastIds(first, tables));
}
