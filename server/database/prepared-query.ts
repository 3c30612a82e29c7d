// Queries for the busiest paths: compiled once for each connection, without Sequelize's work per call.
import { QueryTypes, type Sequelize } from 'sequelize';
import type { ConnectionManager, SqliteConnection, SqliteStatement } from './connect.ts';
import { currentTransaction } from './transaction.ts';

/**
 * Runs one statement, inside the current transaction if there is one, and gives the rows it returns; `$1`, `$2`, … in
 * the SQL are the values by their number. Few different texts, as each is kept compiled.
 */
export type PreparedQuery = <Row extends object>(sql: string, values: readonly unknown[]) => Promise<Row[]>;

/**
 * The busiest look-ups have a SQLite connection of their own: a statement blocks its connection, and a page of
 * statistics must not hold up an authorization.
 */
export const LOOKUP_LANE = { uuid: 'lookup' } as const;

const compiled = new WeakMap<SqliteConnection, Map<string, Promise<SqliteStatement>>>();

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

function onSqlite(sequelize: Sequelize): PreparedQuery {
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  return async <Row extends object>(sql: string, values: readonly unknown[]) => {
    const transaction = currentTransaction() as { connection?: SqliteConnection } | undefined;
    const connection = transaction?.connection ?? (await manager.getConnection(LOOKUP_LANE));
    const statement = await compile(connection, sql);
    return new Promise<Row[]>((resolve, reject) => {
      statement.all(values, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
    });
  };
}

export function preparedQuery(sequelize: Sequelize): PreparedQuery {
  if (sequelize.getDialect() === 'sqlite') return onSqlite(sequelize);
  return (sql, values) => sequelize.query(sql, { bind: [...values], type: QueryTypes.SELECT });
}
