// The only file that relies on what Sequelize's types leave out. test/server/sequelize-internals.test.ts names each of these, so
// that an update that changes one fails there first.
import { type QueryInterface, Sequelize, Transaction } from 'sequelize';
import { runCompiled } from './compiled-statements.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';
import type { SqliteConnection } from './sqlite-connection.ts';

/** Makes every statement join the transaction of its asynchronous context, so that none is left outside by mistake. */
export function joinTransactions(current: () => Transaction | undefined): void {
  // Sequelize asks for one key only, `transaction`.
  Sequelize.useCLS({ get: () => current(), set: () => {}, bind: () => {}, run: () => {} });
}

/** The part of Sequelize's query class that sees every error of a statement. */
interface QueryClass {
  new (...passed: never[]): { formatError(error: Error, stack: string): Error };
}

/** Calls the listener with every error of a statement that Sequelize runs. Costs nothing while statements succeed. */
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

/** The part of the connection manager for SQLite that is replaced. */
interface ConnectionManager {
  getConnection(options?: { uuid?: string }): Promise<SqliteConnection>;
  releaseConnection(connection: SqliteConnection): void;
  destroyConnection(connection: SqliteConnection): Promise<void>;
  /** Closes all connections; called by `sequelize.close()`. */
  _onProcessExit(): Promise<void>;
  /** By `uuid`, including those that could not be opened. */
  connections: Record<string, unknown>;
}

function managerOf(sequelize: Sequelize): ConnectionManager {
  return sequelize.connectionManager as unknown as ConnectionManager;
}

/** @param lane the name under which the connection manager keeps the connection */
export function sqliteConnection(sequelize: Sequelize, lane: string): Promise<SqliteConnection> {
  return managerOf(sequelize).getConnection({ uuid: lane });
}

/** What takes the place of Sequelize's own handling of SQLite connections. */
export interface ConnectionKeeper {
  /** @param id `default` for reading, anything else for a transaction or a lane of its own */
  get(id: string): Promise<SqliteConnection>;
  /** After a rollback that failed. */
  destroy(connection: SqliteConnection): Promise<void>;
  closeAll(): Promise<void>;
}

/** Sequelize's own way to open a connection, and to forget one. */
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

/** Sequelize opens each further connection to the SQLite file with this mode of the driver. */
export function setOpenMode(sequelize: Sequelize, mode: number): void {
  const { options } = sequelize as unknown as { options: { dialectOptions: { mode: number } } };
  options.dialectOptions.mode = mode;
}

/** What is used of a transaction beyond its types. */
interface TransactionInternals {
  /** Gets a connection and calls begin(); if that fails, calls rollback(). */
  prepareEnvironment(useCls: boolean): Promise<void>;
  /** Gives the connection back. */
  cleanup(): void;
  /** Closes the connection, as nobody knows what state it is in. */
  forceCleanup(): Promise<void>;
  connection: SqliteConnection;
}

/** The connection of an open transaction on SQLite. */
export function connectionOf(transaction: Transaction): SqliteConnection {
  return (transaction as unknown as TransactionInternals).connection;
}

/**
 * Sequelize's transaction without the line that it prints on stderr when BEGIN, COMMIT or ROLLBACK fails: the caller gets the
 * error. Sequelize's `afterCommit` hooks are not run.
 */
class SilentTransaction extends Transaction {
  readonly #statements: QueryInterface;

  constructor(sequelize: Sequelize) {
    super(sequelize, {});
    this.#statements = sequelize.getQueryInterface();
  }

  override async commit(): Promise<void> {
    await this.end(this.#statements.commitTransaction(this));
  }

  override async rollback(): Promise<void> {
    await this.end(this.#statements.rollbackTransaction(this));
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

/** Takes the writer's place at once. By compiled statements: Sequelize's cost more than a small change between them. */
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

/**
 * Begins a transaction on a connection of its own, until it is committed or rolled back, once.
 * @param lockWaitMs how long to wait for another process or thread that is writing; SQLite only
 */
export async function beginTransaction(
  sequelize: Sequelize,
  lockWaitMs = LOCK_WAIT_MS,
): Promise<Transaction> {
  const transaction =
    sequelize.getDialect() === 'sqlite'
      ? new SqliteTransaction(sequelize, lockWaitMs)
      : new SilentTransaction(sequelize);
  await (transaction as unknown as TransactionInternals).prepareEnvironment(false);
  return transaction;
}
