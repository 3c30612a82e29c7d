// SQLite's statements, each compiled once for each connection.
import type { SqliteConnection, SqliteStatement } from './sqlite-connection.ts';

const compiled = new WeakMap<SqliteConnection, Map<string, Promise<SqliteStatement>>>();
const errorListeners = new WeakMap<SqliteConnection, (error: Error) => void>();

/** Calls the listener with every error of a statement on this connection. */
export function onStatementError(connection: SqliteConnection, listener: (error: Error) => void): void {
  errorListeners.set(connection, listener);
}

/** Before a connection is closed: SQLite closes none that has statements left. */
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
    // To SQLite `$1` is a name, numbered by where it first stands; `?1` is the number itself.
    const numbered = sql.replaceAll(/\$(\d+)/gu, '?$1');
    const statement = connection.prepare(numbered, (error) => (error ? reject(error) : resolve(statement)));
  });
  statements.set(sql, compiling);
  compiling.catch(() => statements.delete(sql));
  return compiling;
}

/** Runs one statement on this very connection. */
export async function runCompiled<Row extends object>(
  connection: SqliteConnection,
  sql: string,
  values: readonly unknown[] = [],
): Promise<Row[]> {
  const statement = await compile(connection, sql);
  return new Promise<Row[]>((resolve, reject) => {
    statement.all(values, (error, rows) => {
      if (!error) {
        resolve(rows as Row[]);
        return;
      }
      errorListeners.get(connection)?.(error);
      reject(error);
    });
  });
}
