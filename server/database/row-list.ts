// Rows of a table as one JSON value of a statement on PostgreSQL: one text for any number of rows.
import { withoutNul } from './postgres-statements.ts';

/** The rows of the value `$1`, as alias `listed`, with the types of the table's columns. */
export const rowsOfList = (table: string): string =>
  `json_populate_recordset(CAST(NULL AS ${table}), CAST($1 AS json)) AS listed`;

/** As the driver does with texts that are bound alone: PostgreSQL has no half of a character. */
function toJson(value: unknown): unknown {
  const bound = withoutNul(value);
  return typeof bound === 'string' ? bound.toWellFormed() : bound;
}

/** @param rows the values of each, in the order of the columns */
export const toList = (columns: readonly string[], rows: readonly (readonly unknown[])[]): string =>
  JSON.stringify(
    rows.map((values) => Object.fromEntries(columns.map((column, index) => [column, toJson(values[index])]))),
  );
