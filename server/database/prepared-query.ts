// Queries for the busiest look-ups: compiled once, without Sequelize's work per call.
import { QueryTypes, type Sequelize } from 'sequelize';
import { type ConnectionManager, LOOKUP_LANE, type SqliteStatement } from './connect.ts';

/** Selects rows; `$1`, `$2`, … in the SQL are the values in their order. Few different texts, as each is kept compiled. */
export type PreparedSelect = <Row extends object>(sql: string, values: readonly unknown[]) => Promise<Row[]>;

function onSqlite(sequelize: Sequelize): PreparedSelect {
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const statements = new Map<string, Promise<SqliteStatement>>();

  async function prepare(sql: string): Promise<SqliteStatement> {
    const connection = await manager.getConnection(LOOKUP_LANE);
    return new Promise((resolve, reject) => {
      // To SQLite `$1` is a name, numbered by where it first stands; `?1` is the number itself.
      const numbered = sql.replaceAll(/\$(\d+)/gu, '?$1');
      const statement = connection.prepare(numbered, (error) => (error ? reject(error) : resolve(statement)));
    });
  }

  // SQLite closes no connection that has statements left.
  const close = sequelize.close.bind(sequelize);
  sequelize.close = async () => {
    for (const prepared of statements.values()) {
      const statement = await prepared.catch(() => undefined);
      await new Promise<void>((resolve) => {
        if (statement) statement.finalize(resolve);
        else resolve();
      });
    }
    await close();
  };

  return async <Row extends object>(sql: string, values: readonly unknown[]) => {
    const prepared = statements.get(sql) ?? prepare(sql);
    statements.set(sql, prepared);
    prepared.catch(() => statements.delete(sql));
    const statement = await prepared;
    return new Promise<Row[]>((resolve, reject) => {
      statement.all(values, (error, rows) => (error ? reject(error) : resolve(rows as Row[])));
    });
  };
}

export function preparedSelect(sequelize: Sequelize): PreparedSelect {
  if (sequelize.getDialect() === 'sqlite') return onSqlite(sequelize);
  return (sql, values) => sequelize.query(sql, { bind: [...values], type: QueryTypes.SELECT });
}
