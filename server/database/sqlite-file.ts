// A connection to a SQLite file without Sequelize, for maintenance of the file.
import { existsSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Database } from 'sqlite3';
import { inOrder, numbered, type Values } from './named-values.ts';
import { FLUSH_DISK_CACHE } from './sqlite-connection.ts';

export interface SqliteFile {
  exec(sql: string): Promise<void>;
  /** @param values by name, as in `sql.ts` */
  all<Row extends object>(sql: string, values?: Values): Promise<Row[]>;
  /** Interrupts `exec` or `all`, which then fails with `SQLITE_INTERRUPT`. */
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
export async function openSqliteFile(file: string): Promise<SqliteFile> {
  const database = await open(file, ['OPEN_READWRITE']);
  try {
    await database.exec(FLUSH_DISK_CACHE);
    return database;
  } catch (error) {
    await database.close();
    throw error;
  }
}

/** SQLite refuses a URI with a host, so the server of a network share is part of the path: `file:////nas/share/…`. */
export function fileUri(file: string, windows: boolean = process.platform === 'win32'): string {
  const { host, pathname } = pathToFileURL(file, { windows });
  return host === '' ? `file://${pathname}` : `file:////${host}${pathname}`;
}

/**
 * A URI that opens a database read-only, also for `ATTACH`, without creating files next to it.
 * Nothing may write to the file meanwhile.
 */
export function unchangingUri(file: string): string {
  // After a crash the WAL has content that must be read, which requires its index file.
  const how = existsSync(`${file}-wal`) ? 'mode=ro' : 'immutable=1';
  return `${fileUri(file)}?${how}`;
}

/** @param file nothing may write to it meanwhile */
export function openUnchanging(file: string): Promise<SqliteFile> {
  return open(unchangingUri(file), ['OPEN_READONLY', 'OPEN_URI']);
}
