// Queries for the busiest paths: compiled once for each connection, without Sequelize's work per call.
import { QueryTypes, type Sequelize } from 'sequelize';
import { runCompiled } from './compiled-statements.ts';
import { currentTransaction } from './current-transaction.ts';
import { type ConnectionManager, LOOKUP_LANE, type SqliteConnection } from './sqlite-connection.ts';

/**
 * Runs one statement, inside the current transaction if there is one, and gives the rows it returns; `$1`, `$2`, … in
 * the SQL are the values by their number. Few different texts, as each is kept compiled.
 */
export type PreparedQuery = <Row extends object>(sql: string, values: readonly unknown[]) => Promise<Row[]>;

function onSqlite(sequelize: Sequelize): PreparedQuery {
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  return async <Row extends object>(sql: string, values: readonly unknown[]) => {
    const transaction = currentTransaction() as { connection?: SqliteConnection } | undefined;
    const connection = transaction?.connection ?? (await manager.getConnection(LOOKUP_LANE));
    return runCompiled<Row>(connection, sql, values);
  };
}

export function preparedQuery(sequelize: Sequelize): PreparedQuery {
  if (sequelize.getDialect() === 'sqlite') return onSqlite(sequelize);
  return (sql, values) => sequelize.query(sql, { bind: [...values], type: QueryTypes.SELECT });
}
