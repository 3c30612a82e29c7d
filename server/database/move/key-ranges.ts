// Parts of a table between two primary keys, as a copy of a database in use reads, compares and replaces them.
import { createHash } from 'node:crypto';
import type { TableShape } from './table-shapes.ts';

/** The values of a primary key, in its order. */
export type Key = readonly (string | number)[];

export interface KeyRange {
  /** The first row comes after this key; null for the beginning of the table. */
  after: Key | null;
  /** The key of the last row; null for the end of the table. */
  upTo: Key | null;
}

/** Rows in the text format of PostgreSQL's COPY, each with its line feed. */
export interface Lines {
  lines: Buffer;
  rows: number;
}

/** One database of a move. */
export interface RangeReader {
  /** @returns the key of the row that is `count` rows further on; null if there are no more than that */
  keyAfter(table: TableShape, after: Key | null, count: number): Promise<Key | null>;
  read(table: TableShape, range: KeyRange): Promise<Lines>;
}

export interface RangeWriter extends RangeReader {
  remove(table: TableShape, range: KeyRange): Promise<void>;
  insert(table: TableShape, lines: Lines): Promise<void>;
}

/** The columns of the key, selected under names that `keyOf` reads. */
export const keyColumns = ({ key }: TableShape): string =>
  key.map(({ name }, index) => `${name} AS key${index}`).join(', ');

export type KeyRow = Readonly<Record<string, string | number>>;

export const keyOf = ({ key }: TableShape, row: KeyRow | undefined): Key | null =>
  row ? key.map((_, index) => row[`key${index}`] as string | number) : null;

export const digestOf = ({ lines }: Lines): string => createHash('sha256').update(lines).digest('hex');

/** @param columns of the key, as SQL @param value an SQL expression for a value of the key */
export function rangeCondition(
  columns: readonly string[],
  { after, upTo }: KeyRange,
  value: (key: string | number, name: string) => string,
): string {
  const bound = (sign: string, key: Key, name: string) =>
    `(${columns.join(', ')}) ${sign} (${key.map((part, index) => value(part, `${name}${index}`)).join(', ')})`;
  const conditions = [
    ...(after === null ? [] : [bound('>', after, 'after')]),
    ...(upTo === null ? [] : [bound('<=', upTo, 'upTo')]),
  ];
  return conditions.length === 0 ? '' : `WHERE ${conditions.join(' AND ')}`;
}
