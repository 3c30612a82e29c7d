// One connection to one SQLite file, without Sequelize: for what concerns the file rather than the service.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Database } from 'sqlite3';
import { inOrder, numbered, type Values } from './named-values.ts';

export interface SqliteFile {
  exec(sql: string): Promise<void>;
  /** @param values by the names that they have in the text, as in `sql.ts` */
  all<Row extends object>(sql: string, values?: Values): Promise<Row[]>;
  /** Ends what `exec` or `all` is doing, with `SQLITE_INTERRUPT`. */
  interrupt(): void;
  close(): Promise<void>;
}

function wrap(database: Database): SqliteFile {
  return {
    exec: (sql) =>
      new Promise((resolve, reject) => {
        database.exec(sql, (error) => (error ? reject(error) : resolve()));
      }),
    all: <Row extends object>(sql: string, values: Values = {}) =>
      new Promise<Row[]>((resolve, reject) => {
        const { text, names } = numbered(sql, '?');
        const bound = inOrder(names, values, JSON.stringify);
        database.all<Row>(text, bound, (error, rows) => (error ? reject(error) : resolve(rows)));
      }),
    interrupt: () => database.interrupt(),
    close: () =>
      new Promise((resolve) => {
        database.close(() => resolve());
      }),
  };
}

async function open(name: string, flags: readonly ('OPEN_READWRITE' | 'OPEN_READONLY' | 'OPEN_URI')[]) {
  const { default: sqlite3 } = await import('sqlite3');
  const mode = flags.reduce((sum, flag) => sum | sqlite3[flag], 0);
  return new Promise<SqliteFile>((resolve, reject) => {
    const opened = new sqlite3.Database(name, mode, (error) =>
      error ? reject(error) : resolve(wrap(opened)),
    );
  });
}

/** @param file must exist */
export function openSqliteFile(file: string): Promise<SqliteFile> {
  return open(file, ['OPEN_READWRITE']);
}

/**
 * A URI under which a database can be read, also as `ATTACH` takes it, without leaving anything behind beside it.
 * Nothing else may write the file meanwhile.
 */
export function unchangingUri(file: string): string {
  // What a crash left in the log has to be read, and then the log's index is needed.
  const how = existsSync(`${file}-wal`) ? 'mode=ro' : 'immutable=1';
  return `${pathToFileURL(file).href}?${how}`;
}

/** @param file which nothing else writes meanwhile */
export function openUnchanging(file: string): Promise<SqliteFile> {
  return open(unchangingUri(file), ['OPEN_READONLY', 'OPEN_URI']);
}
