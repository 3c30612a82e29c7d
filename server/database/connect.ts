// Opens the database: SQLite in the data directory or PostgreSQL by URL. The only file that knows either driver.
import { Sequelize } from 'sequelize';
import { finalizeStatements, onStatementError } from './compiled-statements.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import { LOOKUP_LANE } from './prepared-query.ts';
import type { StorageGuard } from './storage-guard.ts';
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

const SQLITE_PRAGMAS = [
  `PRAGMA busy_timeout = ${LOCK_WAIT_MS}`,
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
  configure(option: 'busyTimeout', ms: number): void;
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
function keepConnections(sequelize: Sequelize, guard: StorageGuard | undefined): void {
  const manager = sequelize.connectionManager as unknown as ConnectionManager;
  const open = manager.getConnection.bind(manager);
  const lanes = new Map<string, Promise<SqliteConnection>>();

  /** Sequelize, too, keeps each connection by its lane, even one that could not be opened. */
  const forget = (lane: string): void => {
    lanes.delete(lane);
    const { connections } = sequelize.connectionManager as unknown as {
      connections: Record<string, unknown>;
    };
    delete connections[lane];
  };

  const openLane = async (lane: string): Promise<SqliteConnection> => {
    // Where the file was replaced, a new connection would open the other one.
    guard?.check();
    const connection = await open({ uuid: lane });
    if (guard) onStatementError(connection, guard.note);
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
    opened.catch(() => forget(lane));
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
    forget('writer');
    await finalizeStatements(connection);
    await new Promise<void>((resolve) => {
      connection.close(resolve);
    });
  };
}

/** The part of Sequelize's query class that sees every error of a statement; its own types leave it out. */
interface QueryClass {
  new (...passed: never[]): { formatError(error: Error, stack: string): Error };
}

/** Costs nothing while statements succeed. */
function reportErrors(sequelize: Sequelize, guard: StorageGuard): void {
  const { dialect } = sequelize as unknown as { dialect: { Query: QueryClass } };
  dialect.Query = class extends dialect.Query {
    override formatError(error: Error, stack: string): Error {
      const formatted = super.formatError(error, stack);
      guard.note(formatted);
      return formatted;
    }
  };
}

export function dialectOf(sequelize: Sequelize): Dialect {
  return sequelize.getDialect() as Dialect;
}

interface ConnectOptions {
  /** Is told of every statement that fails. */
  guard?: StorageGuard;
  /** Creates a SQLite file that does not exist; otherwise one that was removed would come back empty. */
  create?: boolean;
}

/** Connects; nothing is migrated yet. */
export async function connect(
  location: DatabaseLocation,
  { guard, create = false }: ConnectOptions = {},
): Promise<Sequelize> {
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
      // Without it a connection whose other end has vanished waits for hours.
      dialectOptions: { keepAlive: true, lock_timeout: LOCK_WAIT_MS },
    });
    if (guard) reportErrors(sequelize, guard);
    await sequelize.authenticate();
    return sequelize;
  }
  const { default: sqlite3 } = await import('sqlite3');
  const dialectOptions = { mode: sqlite3.OPEN_READWRITE | (create ? sqlite3.OPEN_CREATE : 0) };
  const sequelize = new Sequelize({
    ...shared,
    dialect: 'sqlite',
    dialectModule: sqlite3,
    storage: location.file,
    dialectOptions,
  });
  keepConnections(sequelize, guard);
  if (guard) reportErrors(sequelize, guard);
  await sequelize.authenticate();
  // Further connections are to the same file, or to none.
  dialectOptions.mode = sqlite3.OPEN_READWRITE;
  return sequelize;
}
