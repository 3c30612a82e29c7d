// The only file that relies on Sequelize internals that its types omit. test/server/sequelize-internals.test.ts covers
// each of them, so an update that changes one fails there first.
import { BaseError, DatabaseError, Sequelize, Transaction } from 'sequelize';
import { runCompiled } from './compiled-statements.ts';
import { inTurn } from './in-turn.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import type { PostgresConnection, PostgresQuery, PostgresResult } from './postgres-connection.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { orHung } from './stalled.ts';

/** Makes every statement join the transaction of its asynchronous context. */
export function joinTransactions(current: () => Transaction | undefined): void {
  // Sequelize reads only the key `transaction`.
  Sequelize.useCLS({ get: () => current(), set: () => {}, bind: () => {}, run: () => {} });
}

/** The part of Sequelize's query class that handles statement errors. */
interface QueryClass {
  new (...passed: never[]): { formatError(error: Error, stack: string): Error };
}

/** Calls the listener for every failed statement that Sequelize runs. Successful statements cost nothing. */
export function onQueryError(sequelize: Sequelize, listener: (error: Error) => void): void {
  const { dialect } = sequelize as unknown as { dialect: { Query: QueryClass } };
  dialect.Query = class extends dialect.Query {
    override formatError(error: Error, stack: string): Error {
      const formatted = super.formatError(error, stack);
      listener(formatted);
      return formatted;
    }
  };
}

/** The part of the SQLite connection manager that is replaced. */
interface ConnectionManager {
  getConnection(options?: { uuid?: string }): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): void;
  destroyConnection(connection: SqliteConnection): Promise<void>;
  /** Closes all connections; called by `sequelize.close()`. */
  _onProcessExit(): Promise<void>;
  /** Keyed by `uuid`; includes connections that failed to open. */
  connections: Record<string, unknown>;
}

function managerOf(sequelize: Sequelize): ConnectionManager {
  return sequelize.connectionManager as unknown as ConnectionManager;
}

/** @param lane the connection's name in the connection manager */
export function sqliteConnection(sequelize: Sequelize, lane: string): Promise<SqliteConnection> {
  return managerOf(sequelize).getConnection({ uuid: lane });
}

/** Replaces Sequelize's own handling of SQLite connections. */
export interface ConnectionKeeper {
  /** @param id `default` for reading; otherwise a transaction or a lane */
  get(id: string): Promise<SqliteConnection>;
  /** Called after a failed rollback. */
  destroy(connection: SqliteConnection): Promise<void>;
  closeAll(): Promise<void>;
}

/** Sequelize's functions to open and to forget a connection. */
export interface ConnectionOpener {
  open(lane: string): Promise<SqliteConnection>;
  forget(lane: string): void;
}

export function replaceConnectionManager(
  sequelize: Sequelize,
  keeperFor: (opener: ConnectionOpener) => ConnectionKeeper,
): void {
  const manager = managerOf(sequelize);
  const open = manager.getConnection.bind(manager);
  const keeper = keeperFor({
    open: (lane) => open({ uuid: lane }),
    forget: (lane) => {
      delete manager.connections[lane];
    },
  });
  manager.getConnection = ({ uuid = 'default' } = {}) => keeper.get(uuid);
  manager.releaseConnection = () => {};
  manager.destroyConnection = keeper.destroy;
  manager._onProcessExit = keeper.closeAll;
}

/** The part of the PostgreSQL connection manager that is replaced or called. */
interface PostgresConnectionManager {
  getConnection(options?: object): Promise<PostgresConnection>;
  releaseConnection(connection: PostgresConnection): void;
  /** Opens a connection outside the pool, with the address and options of the others. */
  connect(config: object): Promise<PostgresConnection>;
  config: object;
}

const postgresManagerOf = (sequelize: Sequelize): PostgresConnectionManager =>
  sequelize.connectionManager as unknown as PostgresConnectionManager;

/**
 * Sequelize sets options on each new connection, and leaves a failure of that as the driver reports it. From here on, it is
 * reported as that of any statement.
 */
export function reportFailedOpening(sequelize: Sequelize): void {
  const manager = postgresManagerOf(sequelize);
  const connect = manager.connect.bind(manager);
  manager.connect = (config) =>
    connect(config).catch((error: Error) => {
      throw error instanceof BaseError ? error : new DatabaseError(Object.assign(error, { sql: '' }));
    });
}

/** Gives each call that needs a connection to `wrap`. @param wrap may refuse, or give the connection back unused */
export function wrapGetConnection(
  sequelize: Sequelize,
  wrap: (
    acquire: () => Promise<PostgresConnection>,
    release: (connection: PostgresConnection) => void,
  ) => Promise<PostgresConnection>,
): void {
  const manager = postgresManagerOf(sequelize);
  const acquire = manager.getConnection.bind(manager);
  const release = manager.releaseConnection.bind(manager);
  manager.getConnection = async (options) => wrap(() => acquire(options), release);
}

/** Lends a connection of the pool for the time of the work. */
export async function usePostgresConnection<Result>(
  sequelize: Sequelize,
  work: (connection: PostgresConnection) => Promise<Result>,
): Promise<Result> {
  const manager = postgresManagerOf(sequelize);
  const connection = await manager.getConnection();
  try {
    return await work(connection);
  } finally {
    manager.releaseConnection(connection);
  }
}

/** Runs a statement without Sequelize's own work. @throws the error as Sequelize reports it; `onQueryError` has received it */
export async function askPostgres(
  sequelize: Sequelize,
  connection: PostgresConnection,
  asked: PostgresQuery,
): Promise<PostgresResult> {
  try {
    return await inTurn(connection, () => connection.query(asked));
  } catch (caught) {
    const error = caught as Error & { code?: unknown };
    const { dialect } = sequelize as unknown as { dialect: { Query: QueryClass } };
    // The pool closes it instead of lending it again.
    if (error.code === 'ECONNRESET') Object.assign(connection, { _invalid: true });
    const query = new dialect.Query(connection as never, sequelize as never, {} as never);
    Object.assign(error, { sql: asked.text, parameters: asked.values });
    throw query.formatError(error, error.stack ?? '');
  }
}

/** A connection outside the pool. The caller closes it. */
export function openPostgresConnection(sequelize: Sequelize): Promise<PostgresConnection> {
  const manager = postgresManagerOf(sequelize);
  return manager.connect(manager.config);
}

/** Tells Sequelize the version of PostgreSQL. Otherwise, it first opens and closes a connection only to ask for it. */
export function setPostgresVersion(sequelize: Sequelize, version: string): void {
  const { options } = sequelize as unknown as { options: { databaseVersion: string } };
  options.databaseVersion = version;
}

/** Sets the mode in which Sequelize opens further connections to the SQLite file. */
export function setOpenMode(sequelize: Sequelize, mode: number): void {
  const { options } = sequelize as unknown as { options: { dialectOptions: { mode: number } } };
  options.dialectOptions.mode = mode;
}

/** Members of a transaction that Sequelize's types omit. */
interface TransactionInternals {
  /** Gets a connection and calls begin(); if that fails, calls rollback(). */
  prepareEnvironment(useCls: boolean): Promise<void>;
  /** Gives the connection back. */
  cleanup(): void;
  /** Closes the connection, whose state is unknown. */
  forceCleanup(): Promise<void>;
  connection: SqliteConnection;
}

/** The connection of an open transaction on SQLite. */
export function connectionOf(transaction: Transaction): SqliteConnection {
  return (transaction as unknown as TransactionInternals).connection;
}

/** The connection of an open transaction on PostgreSQL. */
export function postgresConnectionOf(transaction: Transaction): PostgresConnection {
  return (transaction as unknown as { connection: PostgresConnection }).connection;
}

/**
 * Sequelize prints a line on stderr when BEGIN, COMMIT or ROLLBACK fails; this class leaves that to the caller, which
 * gets the error.
 * It does not run Sequelize's `afterCommit` hooks.
 */
abstract class SilentTransaction extends Transaction {
  constructor(sequelize: Sequelize) {
    super(sequelize, {});
  }

  protected async end(statement: Promise<unknown>): Promise<void> {
    const internals = this as unknown as TransactionInternals;
    try {
      await statement;
    } catch (error) {
      await internals.forceCleanup();
      throw error;
    }
    internals.cleanup();
  }
}

/** Locks the database for writing at BEGIN. Compiled statements, because Sequelize's cost more than a small change. */
class SqliteTransaction extends SilentTransaction {
  readonly #lockWaitMs: number;

  constructor(sequelize: Sequelize, lockWaitMs: number) {
    super(sequelize);
    this.#lockWaitMs = lockWaitMs;
  }

  /** Called by prepareEnvironment(). */
  async begin(): Promise<void> {
    const connection = connectionOf(this);
    const isShortened = this.#lockWaitMs < LOCK_WAIT_MS;
    if (isShortened) connection.configure('busyTimeout', this.#lockWaitMs);
    try {
      await runCompiled(connection, 'BEGIN IMMEDIATE');
    } finally {
      if (isShortened) connection.configure('busyTimeout', LOCK_WAIT_MS);
    }
  }

  override async commit(): Promise<void> {
    await this.end(runCompiled(connectionOf(this), 'COMMIT'));
  }

  override async rollback(): Promise<void> {
    await this.end(runCompiled(connectionOf(this), 'ROLLBACK'));
  }
}

/** PostgreSQL has rolled the transaction back, because a statement had failed and the change went on all the same. */
export class RolledBackError extends Error {
  override readonly name = 'RolledBackError';

  constructor() {
    super('the transaction was rolled back because one of its statements had failed');
  }
}

/** The same on PostgreSQL. */
class PostgresTransaction extends SilentTransaction {
  readonly #ask: (text: string) => Promise<PostgresResult>;

  constructor(sequelize: Sequelize) {
    super(sequelize);
    this.#ask = (text) =>
      askPostgres(sequelize, postgresConnectionOf(this), { text, values: [], name: undefined });
  }

  /** Called by prepareEnvironment(). */
  async begin(): Promise<void> {
    await orHung(postgresConnectionOf(this), this.#ask('BEGIN'));
  }

  override async commit(): Promise<void> {
    const committing = this.#ask('COMMIT');
    await this.end(committing);
    const { command } = await committing;
    if (command !== 'COMMIT') throw new RolledBackError();
  }

  override async rollback(): Promise<void> {
    await this.end(this.#ask('ROLLBACK'));
  }
}

/**
 * Begins a transaction on a separate connection. Commit it or roll it back exactly once.
 * @param lockWaitMs how long to wait for another writer; SQLite only
 */
export async function beginTransaction(
  sequelize: Sequelize,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<Transaction> {
  const transaction =
    sequelize.getDialect() === 'sqlite'
      ? new SqliteTransaction(sequelize, lockWaitMs)
      : new PostgresTransaction(sequelize);
  await (transaction as unknown as TransactionInternals).prepareEnvironment(false);
  return transaction;
}
