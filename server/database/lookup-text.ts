// The statement of a batch of look-ups: keys in as one JSON list, rows out as another. One value each way costs the
// driver far less than one for each column.

import { replaceNames } from './named-values.ts';

/** What differs between SQLite and PostgreSQL. */
export interface JsonLists {
  /** The items of the JSON list `$keys`, with the columns `key` (from 0) and `value`. */
  items: string;
  /** The whole `value`, as text. */
  value: string;
  /** A JSON array of these expressions. */
  array: string;
  /** The JSON list of an expression over all rows, as text. */
  list(expression: string): string;
  /** After FROM: each row of `asked` with the columns selected for it. @param from the tables and the condition */
  foundFor(asked: string, columns: string, from: string): string;
}

export const SQLITE_LISTS: JsonLists = {
  items: 'json_each($keys)',
  value: 'value',
  array: 'json_array',
  list: (expression) => `json_group_array(${expression})`,
  foundFor: (asked, columns, from) =>
    `(SELECT asked.slot AS "slot", ${columns} FROM ${asked} CROSS JOIN ${from})`,
};

export const POSTGRES_LISTS: JsonLists = {
  items: `(SELECT n - 1 AS key, value FROM json_array_elements(CAST($keys AS json)) WITH ORDINALITY AS item (value, n)) item`,
  value: `value #>> '{}'`,
  array: 'json_build_array',
  list: (expression) => `CAST(json_agg(${expression}) AS TEXT)`,
  // PostgreSQL expects a list of a hundred keys, for which it would read a table of some ten thousand rows completely.
  // The limit makes it look each key up.
  foundFor: (asked, columns, from) => `${asked} CROSS JOIN LATERAL (SELECT ${columns} FROM ${from} LIMIT 1)`,
};

interface Parts {
  /** Of the values of a key. */
  names: readonly string[];
  columns: string;
  /** The names of the columns. */
  facts: readonly string[];
  from: string;
}

/** @returns a text with the value `$keys`, whose row has `found`: a JSON list of [index of the key, ...facts] */
export function lookupText(lists: JsonLists, { names, columns, facts, from }: Parts): string {
  const member = (index: number) => (names.length === 1 ? lists.value : `value ->> ${index}`);
  const values = names.map((name, index) => `, ${member(index)} AS "asked_${name}"`).join('');
  const joined = replaceNames(from, (name) => `asked."asked_${name}"`);
  const row = ['slot', ...facts].map((name) => `"${name}"`).join(', ');
  const askedRows = `(SELECT key AS slot${values} FROM ${lists.items}) asked`;
  return `
    SELECT ${lists.list(`${lists.array}(${row})`)} AS "found"
    FROM ${lists.foundFor(askedRows, columns, joined)} each_found`;
}

/** @param keys the values of each key @returns what to bind as `$keys` */
export const asked = (keys: readonly (readonly (string | null)[])[]): string =>
  JSON.stringify(keys[0]?.length === 1 ? keys.flat() : keys);
