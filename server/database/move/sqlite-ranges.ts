// Ranges of a table in a SQLite file that rows are copied to from a PostgreSQL database in use.
import type { SqliteFile } from '../sqlite-file.ts';
import type { RangeWriter } from './key-ranges.ts';
import { conditionOf, rangeValues, sqliteRanges } from './sqlite-lines.ts';
import { rowInserter } from './sqlite-tables.ts';
import type { Column, TableShape } from './table-shapes.ts';

const ESCAPED = /\\(.)/gu;
const LETTERS: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', v: '\v', f: '\f', r: '\r' };
const textOf = (field: string): string =>
  field.includes('\\') ? field.replaceAll(ESCAPED, (_, letter: string) => LETTERS[letter] ?? letter) : field;

/** A field of COPY's text format as JSON, which has bytes as hexadecimal digits. */
function jsonOf({ kind }: Column, field: string): string {
  if (field === String.raw`\N`) return 'null';
  if (kind === 'integer') return field;
  if (kind === 'bytes') return `"${field.slice(String.raw`\\x`.length)}"`;
  return JSON.stringify(textOf(field));
}

const rowsOf = ({ columns }: TableShape, lines: Buffer): string => {
  const rows = lines
    .toString()
    .split('\n')
    .slice(0, -1)
    .map((line) => {
      const fields = line.split('\t');
      return `[${columns.map((column, index) => jsonOf(column, fields[index] as string)).join(',')}]`;
    });
  return `[${rows.join(',')}]`;
};

export function writableRanges(database: SqliteFile): RangeWriter {
  return {
    ...sqliteRanges(database),
    async remove(table, range) {
      await database.all(`DELETE FROM ${table.name} ${conditionOf(table, range)}`, rangeValues(range));
    },
    insert: (table, { lines }) => rowInserter(database, table)(rowsOf(table, lines)),
  };
}
