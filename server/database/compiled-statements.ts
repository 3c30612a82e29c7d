// Compiles each SQLite statement once per connection.
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.ts';

const compiled = new WeakMap<SqliteConnection, Map<string, Promise<SqliteStatement>>>();
const errorListeners = new WeakMap<SqliteConnection, (error: Error) => void>();

/** Calls the listener for every failed statement on this connection. */
export function onStatementError(connection: SqliteConnection, listener: (error: Error) => void): void {
  errorListeners.set(connection, listener);
}

/** Call this before closing a connection: SQLite refuses to close one with open statements. */
export async function finalizeStatements(connection: SqliteConnection): Promise<void> {
  for (const compiling of compiled.get(connection)?.values() ?? []) {
    const statement = await compiling.catch(() => undefined);
    await new Promise<void>((resolve) => {
      if (statement) statement.finalize(resolve);
      else resolve();
    });
  }
  compiled.delete(connection);
}

function compile(connection: SqliteConnection, sql: string): Promise<SqliteStatement> {
  const statements = compiled.get(connection) ?? new Map<string, Promise<SqliteStatement>>();
  compiled.set(connection, statements);
  const known = statements.get(sql);
  if (known) return known;
  const compiling = new Promise<SqliteStatement>((resolve, reject) => {
    const statement = connection.prepare(sql, (error) => (error ? reject(error) : resolve(statement)));
  });
  statements.set(sql, compiling);
  compiling.catch(() => statements.delete(sql));
  return compiling;
}

function fail(connection: SqliteConnection, error: Error, reject: (error: Error) => void): void {
  errorListeners.get(connection)?.(error);
  reject(error);
}

/** Runs one statement on this connection and keeps it compiled. @returns the selected rows */
export async function runCompiled<Row extends object>(
  connection: SqliteConnection,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const statement = await compile(connection, sql);
  return new Promise<Row[]>((resolve, reject) => {
    statement.all(values, (error, rows) => {
      if (error) fail(connection, error, reject);
      else resolve(rows as Row[]);
    });
  });
}

/** Runs a statement that returns no rows. @returns the number of changed rows */
export async function changeCompiled(
  connection: SqliteConnection,
  sql: string,
  values: readonly unknown[],
): Promise<number> {
  const statement = await compile(connection, sql);
  return new Promise<number>((resolve, reject) => {
    statement.run(values, function done(error) {
      if (error) fail(connection, error, reject);
      else resolve(this.changes);
    });
  });
}

/** Runs a statement whose text rarely repeats, without keeping it compiled. @returns the selected rows */
export function runOnce<Row extends object>(
  connection: SqliteConnection,
  sql: string,
  values: readonly unknown[],
): Promise<Row[]> {
  return new Promise<Row[]>((resolve, reject) => {
    connection.serialize(() => {
      connection.all(sql, values, (error, rows) => {
        if (error) fail(connection, error, reject);
        else resolve(rows as Row[]);
      });
    });
  });
}

/** Runs a statement that returns no rows, without keeping it compiled. @returns the number of changed rows */
export function changeOnce(
  connection: SqliteConnection,
  sql: string,
  values: readonly unknown[],
): Promise<number> {
  return new Promise<number>((resolve, reject) => {
    connection.serialize(() => {
      connection.run(sql, values, function done(error) {
        if (error) fail(connection, error, reject);
        else resolve(this.changes);
      });
    });
  });
}
