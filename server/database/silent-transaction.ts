// Sequelize's transaction, but for the line that it prints on stderr where BEGIN, COMMIT or ROLLBACK fails: who called hears of it.
import { type QueryInterface, type Sequelize, Transaction } from 'sequelize';
import { runCompiled } from './compiled-statements.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import { LOCK_WAIT_MS } from './lock-wait.ts';

/** What is used of Sequelize's transaction beyond its types. */
interface Undeclared {
  /** Gets a connection and sends BEGIN; if that fails, calls rollback(). */
  prepareEnvironment(useCls: boolean): Promise<void>;
  /** Gives the connection back. */
  cleanup(): void;
  /** Closes the connection, as nobody knows what state it is in. */
  forceCleanup(): Promise<void>;
}

/** Sequelize's `afterCommit` hooks are not run. */
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
    const connection = this as unknown as Undeclared;
    try {
      await statement;
    } catch (error) {
      await connection.forceCleanup();
      throw error;
    }
    connection.cleanup();
  }
}

/** Takes the writer's place at once. By compiled statements: Sequelize's cost more than a small change between them. */
class SqliteTransaction extends SilentTransaction {
  declare readonly connection: SqliteConnection;
  readonly #lockWaitMs: number;

  constructor(sequelize: Sequelize, lockWaitMs: number) {
    super(sequelize);
    this.#lockWaitMs = lockWaitMs;
  }

  /** Called by Sequelize, whose types leave it out. */
  async begin(): Promise<void> {
    const isShortened = this.#lockWaitMs < LOCK_WAIT_MS;
    if (isShortened) this.connection.configure('busyTimeout', this.#lockWaitMs);
    try {
      await runCompiled(this.connection, 'BEGIN IMMEDIATE');
    } finally {
      if (isShortened) this.connection.configure('busyTimeout', LOCK_WAIT_MS);
    }
  }

  override async commit(): Promise<void> {
    await this.end(runCompiled(this.connection, 'COMMIT'));
  }

  override async rollback(): Promise<void> {
    await this.end(runCompiled(this.connection, 'ROLLBACK'));
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
  await (transaction as unknown as Undeclared).prepareEnvironment(false);
  return transaction;
}
