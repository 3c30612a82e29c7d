// Ranges of a table in PostgreSQL, for a copy of a database in use.
import type { PostgresConnection } from '../postgres-connection.ts';
import {
  keyColumns,
  keyOf,
  type KeyRange,
  type KeyRow,
  rangeCondition,
  type RangeWriter,
} from './key-ranges.ts';
import { copyIn, copyOut } from './postgres-copy.ts';
import { orderOf, selectRows } from './postgres-tables.ts';
import { columnList, type TableShape } from './table-shapes.ts';

/** COPY takes no values. Texts of keys have no meaning to PostgreSQL between these quotes. */
const literal = (value: string | number): string =>
  typeof value === 'number' ? String(value) : `'${value.replaceAll("'", "''")}'`;

function conditionOf({ key }: TableShape, range: KeyRange): string {
  return rangeCondition(
    key.map((column) => orderOf([column])),
    range,
    literal,
  );
}

export function postgresRanges(connection: PostgresConnection): RangeWriter {
  return {
    async keyAfter(table, after, count) {
      const [row] = await selectRows<KeyRow>(
        connection,
        `SELECT ${keyColumns(table)} FROM ${table.name}
         ${conditionOf(table, { after, upTo: null })} ORDER BY ${orderOf(table.key)} LIMIT 1 OFFSET ${count - 1}`,
      );
      return keyOf(table, row);
    },
    async read(table, range) {
      const lines: Uint8Array[] = [];
      const rows = `SELECT ${columnList(table.columns)} FROM ${table.name} ${conditionOf(table, range)}
        ORDER BY ${orderOf(table.key)}`;
      // The driver uses the memory of a line again.
      await copyOut(connection, `COPY (${rows}) TO STDOUT`, (line) => lines.push(Buffer.from(line)));
      return { lines: Buffer.concat(lines), rows: lines.length };
    },
    async remove(table, range) {
      await connection.query(`DELETE FROM ${table.name} ${conditionOf(table, range)}`);
    },
    async insert(table, { lines }) {
      await copyIn(connection, `COPY ${table.name} (${columnList(table.columns)}) FROM STDIN`, lines);
    },
  };
}
