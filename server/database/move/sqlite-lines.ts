// Reads a table of a SQLite file as lines of PostgreSQL's COPY text format
// (https://www.postgresql.org/docs/current/sql-copy.html). SQLite itself puts them together: as rows in JavaScript, a
// million licenses would take minutes.
import type { SqliteFile } from '../sqlite-file.ts';
import {
  type Key,
  keyColumns,
  keyOf,
  type KeyRange,
  type KeyRow,
  type Lines,
  rangeCondition,
  type RangeReader,
} from './key-ranges.ts';
import { type Column, columnList, type TableShape } from './table-shapes.ts';

const ROWS_AT_ONCE = 2000;

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

const named = (key: Key | null, name: string) =>
  Object.fromEntries((key ?? []).map((value, index) => [`${name}${index}`, value]));
export const rangeValues = ({ after, upTo }: KeyRange) => ({
  ...named(after, 'after'),
  ...named(upTo, 'upTo'),
});
/** Bind `rangeValues` to it. */
export const conditionOf = ({ key }: TableShape, range: KeyRange): string =>
  rangeCondition(
    key.map(({ name }) => name),
    range,
    (_value, name) => `$${name}`,
  );

export function sqliteRanges(database: SqliteFile): RangeReader {
  return {
    async keyAfter(table, after, count) {
      const range = { after, upTo: null };
      const [row] = await database.all<KeyRow>(
        `SELECT ${keyColumns(table)} FROM ${table.name}
         ${conditionOf(table, range)} ORDER BY ${columnList(table.key)} LIMIT 1 OFFSET ${count - 1}`,
        rangeValues(range),
      );
      return keyOf(table, row);
    },
    async read(table, range) {
      const line = table.columns.map(field).join(' || char(9) || ');
      // Without the LIMIT, SQLite may ignore the order of a subquery.
      const rows = `SELECT ${line} AS line FROM ${table.name} ${conditionOf(table, range)}
        ORDER BY ${columnList(table.key)} LIMIT -1`;
      const [batch] = await database.all<{ lines: string | null; count: number }>(
        `SELECT group_concat(line, char(10)) AS lines, count(*) AS count FROM (${rows})`,
        rangeValues(range),
      );
      const count = batch?.count ?? 0;
      return { lines: Buffer.from(count === 0 ? '' : `${batch?.lines}\n`), rows: count };
    },
  };
}

/** Reads by key, so that each batch begins where the one before has ended. */
export function sqliteLines(database: SqliteFile, table: TableShape) {
  const ranges = sqliteRanges(database);
  let after: Key | null = null;
  let isOver = false;

  /** @returns null at the end */
  return async function next(): Promise<Lines | null> {
    if (isOver) return null;
    const upTo = await ranges.keyAfter(table, after, ROWS_AT_ONCE);
    const batch = await ranges.read(table, { after, upTo });
    isOver = upTo === null;
    after = upTo;
    return batch.rows === 0 ? null : batch;
  };
}
