// Where hand-written SQL has to differ between SQLite and PostgreSQL, by what the difference is for.
import type { Sequelize } from 'sequelize';
import type { Dialect } from './connect.ts';
import { POSTGRES_SEARCH, SQLITE_SEARCH, type LicenseSearchIndex } from './license-search-index.ts';

export interface SqlDialect {
  name: Dialect;
  /** Behind a table: reads it by this index. SQLite keeps no statistics to choose by; PostgreSQL chooses by itself. */
  indexedBy(index: string): string;
  /** The same where another index is better at times. @param isBetter asked only where a choice has to be made */
  indexedByBest(usual: string, other: string, isBetter: () => Promise<boolean>): Promise<string>;
  /** Behind a table: reads its rows by their ids. */
  readById: string;
  /** A JOIN that reads its left side first. */
  orderedJoin: string;
  /** Behind a text: compares it byte by byte, so that a beginning is a range of its index. */
  bytewise: string;
  /** As much of a text column as its index holds, for sorting. */
  sortKey(column: string): string;
  /** The clause that locks the rows of table alias `alias`, waiting for those that another server has locked. */
  lockRows(alias: string): string;
  /** The clause that locks the rows of table alias `alias`, and passes over those that another server has locked. */
  skipLocked(alias: string): string;
  /** The clause that waits until no other server is deleting the rows, and keeps them while the transaction lasts. */
  keepRows: string;
  /** That the expression is one of the values in the list `$name`. */
  isIn(expression: string, name: string): string;
  licenseSearch: LicenseSearchIndex;
}

const SQLITE: SqlDialect = {
  name: 'sqlite',
  indexedBy: (index) => `INDEXED BY ${index}`,
  indexedByBest: async (usual, other, isBetter) => `INDEXED BY ${(await isBetter()) ? other : usual}`,
  readById: 'NOT INDEXED',
  orderedJoin: 'CROSS JOIN',
  bytewise: 'COLLATE BINARY',
  sortKey: (column) => column,
  // One writer at a time: nothing needs a lock.
  lockRows: () => '',
  skipLocked: () => '',
  keepRows: '',
  isIn: (expression, name) => `${expression} IN (SELECT value FROM json_each($${name}))`,
  licenseSearch: SQLITE_SEARCH,
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
  skipLocked: (alias) => `FOR UPDATE OF ${alias} SKIP LOCKED`,
  keepRows: 'FOR KEY SHARE',
  isIn: (expression, name) => `${expression} = ANY($${name})`,
  licenseSearch: POSTGRES_SEARCH,
};

export function sqlDialect(sequelize: Sequelize): SqlDialect {
  return sequelize.getDialect() === 'sqlite' ? SQLITE : POSTGRES;
}

/** Whether several servers can work on the database at once. A SQLite file belongs to one, which locks its data directory. */
export function isShared(sequelize: Sequelize): boolean {
  return sequelize.getDialect() === 'postgres';
}
