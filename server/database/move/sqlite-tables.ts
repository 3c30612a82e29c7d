// The tables of a SQLite file that is copied: digests, last IDs, and the indices that wait until rows are in place.
import type { SqliteFile } from '../sqlite-file.ts';
import { readAhead } from './read-ahead.ts';
import { sqliteLines } from './sqlite-lines.ts';
import { createDigest, type TableDigest } from './table-digest.ts';
import { type ColumnKind, columnList, type LastIds, type TableShape } from './table-shapes.ts';

export async function sqliteDigest(database: SqliteFile, table: TableShape): Promise<TableDigest> {
  const digest = createDigest();
  await readAhead(sqliteLines(database, table), async ({ lines, rows }) => digest.add(lines, rows));
  return digest.finish();
}

export async function countRows(database: SqliteFile, { name }: TableShape): Promise<number> {
  const [row] = await database.all<{ count: number }>(`SELECT count(*) AS count FROM ${name}`);
  return row?.count ?? 0;
}

/** Zero for a table that has not had a row yet. */
export async function sqliteLastIds(database: SqliteFile, tables: readonly TableShape[]): Promise<LastIds> {
  const rows = await database.all<{ name: string; seq: number }>('SELECT name, seq FROM sqlite_sequence');
  const known = new Map(rows.map(({ name, seq }) => [name, seq]));
  return new Map(
    tables.filter(({ hasSequence }) => hasSequence).map(({ name }) => [name, known.get(name) ?? 0]),
  );
}

export async function setSqliteLastIds(database: SqliteFile, ids: LastIds): Promise<void> {
  await database.exec('DELETE FROM sqlite_sequence');
  for (const [name, seq] of ids)
    await database.all('INSERT INTO sqlite_sequence (name, seq) VALUES ($name, $seq)', { name, seq });
}

const read = (kind: ColumnKind, index: number) =>
  kind === 'bytes' ? `unhex(value ->> ${index})` : `value ->> ${index}`;

/** @returns a function that inserts rows: a JSON list of a list for each row, with bytes as hexadecimal digits */
export function rowInserter(database: SqliteFile, { name, columns }: TableShape) {
  const values = columns.map(({ kind }, index) => read(kind, index)).join(', ');
  const sql = `INSERT INTO ${name} (${columnList(columns)}) SELECT ${values} FROM json_each($rows)`;
  return async (rows: string): Promise<void> => {
    await database.all(sql, { rows });
  };
}

/** Removes indices, except those of constraints. @returns a function that restores them */
export async function deferIndices(database: SqliteFile): Promise<(onStep: () => void) => Promise<void>> {
  const indices = await database.all<{ name: string; sql: string }>(
    `SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid`,
  );
  for (const { name } of indices) await database.exec(`DROP INDEX ${name}`);
  return async (onStep) => {
    for (const { sql } of indices) {
      await database.exec(sql);
      onStep();
    }
  };
}
