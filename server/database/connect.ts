// Opens the database: SQLite in the data directory or PostgreSQL by URL. The only file that knows either driver.
import { Sequelize } from 'sequelize';
import { finalizeStatements } from './compiled-statements.ts';
import { LOOKUP_LANE } from './prepared-query.ts';
import { currentTransaction } from './transaction.ts';

/** An open database, as those hand it on who need not know more. */
export type Database = Sequelize;
export type Dialect = 'sqlite' | 'postgres';

export interface DatabaseLocation {
  /** `postgres://…`, or null for SQLite. */
  url: string | null;
  /** The SQLite file. */
  file: string;
}

/** How long a statement waits for another process or thread that is writing. */
const BUSY_TIMEOUT_MS = 5000;

const SQLITE_PRAGMAS = [
  `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`,
  'PRAGMA journal_mode = WAL',
  // FULL: a reply is sent only after its change would survive a power cut.
  'PRAGMA synchronous = FULL',
  'PRAGMA foreign_keys = ON',
  'PRAGMA cache_size = -16000',
  'PRAGMA temp_store = MEMORY',
].join('; ');

/** What is used of the driver's connection. */
export interface SqliteConnection {
  exec(sql: string, done: (error: Error | null) => void): void;
  prepare(sql: string, done: (error: Error | null) => void): SqliteStatement;
  close(done: () => void): void;
}

export interface SqliteStatement {
  all(bind: readonly unknown[], done: (error: Error | null, rows: object[]) => void): void;
  finalize(done: () => void): void;
}

/** The part of Sequelize's connection manager that is replaced here; its own types leave it out. */
export interface ConnectionManager {
  getConnection(options?: { uuid?: string }): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): void;
  destroyConnection(connection: SqliteConnection): Promise<void>;
  /** Closes all connections. */
  _onProcessExit(): Promise<void>;
}

// Every statement joins the transaction that its asynchronous context is in, so none can be left outside by mistake.
Sequelize.useCLS({
  get: () => currentTransaction(),
  set: () => {},
  bind: () => {},
  run: () => {},
});

/**
 * Sequelize opens and closes a SQLite file for each transaction. Instead keep three connections:
 * one for reading, one for look-ups, one for the single writer that `transaction()` lets in.
 */
function keepConnections(sequelize: Sequelize): void {
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const open = manager.getConnection.bind(manager);
  const lanes = new Map<string, Promise<SqliteConnection>>();

  const openLane = async (lane: string): Promise<SqliteConnection> => {
    const connection = await open({ uuid: lane });
    await new Promise<void>((resolve, reject) => {
      connection.exec(SQLITE_PRAGMAS, (error) => (error ? reject(error) : resolve()));
    });
    return connection;
  };

  manager.getConnection = (options = {}) => {
    const { uuid = 'default' } = options;
    const lane = uuid === 'default' || uuid === LOOKUP_LANE.uuid ? uuid : 'writer';
    const opened = lanes.get(lane) ?? openLane(lane);
    lanes.set(lane, opened);
    opened.catch(() => lanes.delete(lane));
    return opened;
  };
  manager.releaseConnection = () => {};
  // One after the other: SQLite writes back and removes its log only for the last one, and of two that close at the
  // same moment neither is.
  manager._onProcessExit = async () => {
    for (const opened of lanes.values()) {
      const connection = await opened.catch(() => undefined);
      await new Promise<void>((resolve) => {
        if (connection) finalizeStatements(connection).then(() => connection.close(resolve), resolve);
        else resolve();
      });
    }
    lanes.clear();
  };
  // Only the writer is ever destroyed: after a rollback that failed because SQLite had rolled back by itself.
  manager.destroyConnection = async (connection) => {
    lanes.delete('writer');
    const { connections } = sequelize.connectionManager as unknown as {
      connections: Record<string, unknown>;
    };
    delete connections['writer'];
    await finalizeStatements(connection);
    await new Promise<void>((resolve) => {
      connection.close(resolve);
    });
  };
}

export function dialectOf(sequelize: Sequelize): Dialect {
  return sequelize.getDialect() as Dialect;
}

/** Connects; nothing is created or migrated yet. */
export async function connect(location: DatabaseLocation): Promise<Sequelize> {
  const shared = {
    logging: false as const,
    define: { timestamps: false, underscored: true },
    // The busy timeout has waited long enough; Sequelize would wait for it five times over.
    retry: { max: 1 },
  };
  if (location.url !== null) {
    const { default: pg } = await import('pg');
    // Ids, counts and epoch milliseconds all fit a JavaScript number.
    pg.defaults.parseInt8 = true;
    const sequelize = new Sequelize(location.url, {
      ...shared,
      dialect: 'postgres',
      dialectModule: pg,
      pool: { max: 10, acquire: 10_000 },
    });
    await sequelize.authenticate();
    return sequelize;
  }
  const { default: sqlite3 } = await import('sqlite3');
  const sequelize = new Sequelize({
    ...shared,
    dialect: 'sqlite',
    dialectModule: sqlite3,
    storage: location.file,
  });
  keepConnections(sequelize);
  await sequelize.authenticate();
  return sequelize;
}
