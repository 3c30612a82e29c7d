// Reads a table of a SQLite file as lines of PostgreSQL's COPY text format
// (https://www.postgresql.org/docs/current/sql-copy.html). SQLite itself puts them together: as rows in JavaScript, a
// million licenses would take minutes.
import type { SqliteFile } from '../sqlite-file.ts';
import { type Column, columnList, type TableShape } from './table-shapes.ts';

const ROWS_AT_ONCE = 2000;

export interface LineBatch {
  /** Each with its line feed. */
  lines: Buffer;
  rows: number;
}

/** Code of the character, and the letter that COPY writes after a backslash. */
const ESCAPES: readonly (readonly [code: number, letter: string])[] = [
  [8, 'b'],
  [9, 't'],
  [10, 'n'],
  [11, 'v'],
  [12, 'f'],
  [13, 'r'],
];

/** Matches what has to be escaped, so that other texts are scanned once. */
const SPECIAL = String.raw`'*[\' || char(8) || '-' || char(13) || ']*'`;

function escaped(column: string): string {
  const backslashes = String.raw`replace(${column}, '\', '\\')`;
  return ESCAPES.reduce(
    (text, [code, letter]) => `replace(${text}, char(${code}), '\\${letter}')`,
    backslashes,
  );
}

function field({ name, kind }: Column): string {
  switch (kind) {
    case 'integer':
      return String.raw`ifnull(CAST(${name} AS TEXT), '\N')`;
    case 'bytes':
      return String.raw`ifnull('\\x' || lower(hex(${name})), '\N')`;
    case 'text':
      return String.raw`CASE WHEN ${name} IS NULL THEN '\N' WHEN ${name} GLOB ${SPECIAL} THEN ${escaped(name)} ELSE ${name} END`;
  }
}

/** Reads by key, so that each batch begins where the one before has ended. */
export function sqliteLines(database: SqliteFile, { name, columns, key }: TableShape) {
  const keys = columnList(key);
  const line = columns.map(field).join(' || char(9) || ');
  const after = `(${keys}) > (${key.map((_, index) => `$key${index}`).join(', ')})`;
  let last: Record<string, unknown> | null = null;
  let isOver = false;

  /** @returns null at the end */
  return async function next(): Promise<LineBatch | null> {
    if (isOver) return null;
    const where = last === null ? '' : `WHERE ${after}`;
    // Without the LIMIT, SQLite may ignore the order of a subquery.
    const rows = `SELECT ${keys}, ${line} AS line FROM ${name} ${where} ORDER BY ${keys} LIMIT ${ROWS_AT_ONCE}`;
    const [batch] = await database.all<{ lines: string; count: number }>(
      `SELECT group_concat(line, char(10)) AS lines, count(*) AS count FROM (${rows})`,
      last ?? {},
    );
    if (!batch || batch.count === 0) return null;
    isOver = batch.count < ROWS_AT_ONCE;
    if (!isOver) {
      const [end] = await database.all<Record<string, unknown>>(
        `SELECT ${key.map((column, index) => `${column.name} AS key${index}`).join(', ')} FROM ${name} ${where}
         ORDER BY ${keys} LIMIT 1 OFFSET ${ROWS_AT_ONCE - 1}`,
        last ?? {},
      );
      last = end ?? null;
    }
    return { lines: Buffer.from(`${batch.lines}\n`), rows: batch.count };
  };
}
