// Differences between SQLite and PostgreSQL in hand-written SQL, named by purpose.
import type { Sequelize } from 'sequelize';
import type { Dialect } from './connect.ts';
import { type KeptCounts, POSTGRES_COUNTS, SQLITE_COUNTS } from './kept-counts.ts';
import { type JsonLists, POSTGRES_LISTS, SQLITE_LISTS } from './lookup-text.ts';
import { SQLITE_SEARCH, type LicenseSearchIndex } from './license-search-index.ts';
import { POSTGRES_SEARCH } from './postgres-license-search.ts';

export interface SqlDialect {
  name: Dialect;
  /** After a table name: reads by this index. SQLite has no statistics here; PostgreSQL chooses by itself. */
  indexedBy(index: string): string;
  /** The same with two candidates. @param isBetter called only where the choice is needed */
  indexedByBest(usual: string, other: string, isBetter: () => Promise<boolean>): Promise<string>;
  /** After a table name: reads rows by ID. */
  readById: string;
  /** A JOIN that reads its left side first. */
  orderedJoin: string;
  /** After a text: compares byte by byte, so that a prefix is a range of the index. */
  bytewise: string;
  /** The indexed part of a text column, for sorting. */
  sortKey(column: string): string;
  /** Locks the rows of table alias `alias`; waits for rows that another server has locked. */
  lockRows(alias: string): string;
  /**
   * Locks the rows of table alias `alias`, and keeps those of alias `read` as they are. Skips what another server has
   * locked in either.
   */
  skipLocked(alias: string, read: string): string;
  /** Waits for other servers that are deleting the rows, then keeps the rows for the rest of the transaction. */
  keepRows: string;
  /** Checks that the expression is one of the values in the list `$name`. */
  isIn(expression: string, name: string): string;
  /**
   * After FROM: for each value of the list `$name`, the first rows of a table, as alias `t`. Locks them; skips rows that
   * another server has locked.
   * @param which the conditions from WHERE to LIMIT; the value is `item.value`
   */
  firstOfEach(name: string, table: string, which: string): string;
  /**
   * After FROM: the objects of the JSON list `$name` as rows with these columns, as alias `alias`.
   * @param columns the properties with their types, which only PostgreSQL needs
   */
  jsonRows(name: string, alias: string, columns: Readonly<Record<string, 'BIGINT' | 'TEXT'>>): string;
  /** The members of a JSON object in a text column, as rows with the columns `key` and `value`. */
  jsonFields(column: string): string;
  /**
   * A clock in milliseconds that all servers of the database share. A SQLite file has one server, whose own clock is
   * the value `$name`.
   */
  sharedClock(name: string): string;
  jsonLists: JsonLists;
  licenseSearch: LicenseSearchIndex;
  kept: KeptCounts;
}

const SQLITE: SqlDialect = {
  name: 'sqlite',
  indexedBy: (index) => `INDEXED BY ${index}`,
  indexedByBest: async (usual, other, isBetter) => `INDEXED BY ${(await isBetter()) ? other : usual}`,
  readById: 'NOT INDEXED',
  orderedJoin: 'CROSS JOIN',
  bytewise: 'COLLATE BINARY',
  sortKey: (column) => column,
  // SQLite has one writer at a time, so no locks are needed.
  lockRows: () => '',
  skipLocked: () => '',
  keepRows: '',
  isIn: (expression, name) => `${expression} IN (SELECT value FROM json_each($${name}))`,
  firstOfEach: (name, table, which) =>
    `json_each($${name}) AS item CROSS JOIN ${table} t ON t.id IN (SELECT t.id FROM ${table} t ${which})`,
  jsonRows(name, alias, columns) {
    const selected = Object.keys(columns).map((column) => `value ->> '${column}' AS "${column}"`);
    return `(SELECT ${selected.join(', ')} FROM json_each($${name})) AS ${alias}`;
  },
  jsonFields: (column) => `json_each(${column})`,
  sharedClock: (name) => `CAST($${name} AS INTEGER)`,
  jsonLists: SQLITE_LISTS,
  licenseSearch: SQLITE_SEARCH,
  kept: SQLITE_COUNTS,
};

const POSTGRES: SqlDialect = {
  name: 'postgres',
  indexedBy: () => '',
  indexedByBest: async () => '',
  readById: '',
  orderedJoin: 'JOIN',
  bytewise: 'COLLATE "C"',
  sortKey: (column) => `left(${column}, 200) COLLATE "C"`,
  lockRows: (alias) => `FOR UPDATE OF ${alias}`,
  skipLocked: (alias, read) => `FOR UPDATE OF ${alias} SKIP LOCKED FOR SHARE OF ${read} SKIP LOCKED`,
  keepRows: 'FOR KEY SHARE',
  isIn: (expression, name) => `${expression} = ANY($${name})`,
  firstOfEach: (name, table, which) =>
    `unnest(CAST($${name} AS BIGINT[])) AS item (value)
     CROSS JOIN LATERAL (SELECT t.* FROM ${table} t ${which} FOR UPDATE SKIP LOCKED) t`,
  jsonRows(name, alias, columns) {
    const typed = Object.entries(columns).map(([column, type]) => `"${column}" ${type}`);
    return `json_to_recordset(CAST($${name} AS json)) AS ${alias} (${typed.join(', ')})`;
  },
  jsonFields: (column) => `json_each(CAST(${column} AS json))`,
  sharedClock: () => 'CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)',
  jsonLists: POSTGRES_LISTS,
  licenseSearch: POSTGRES_SEARCH,
  kept: POSTGRES_COUNTS,
};

export function sqlDialect(sequelize: Sequelize): SqlDialect {
  return sequelize.getDialect() === 'sqlite' ? SQLITE : POSTGRES;
}

/**
 * Whether several servers can use the database together. A SQLite file belongs to the server that locked its data
 * directory.
 */
export function isShared(sequelize: Sequelize): boolean {
  return sequelize.getDialect() === 'postgres';
}
