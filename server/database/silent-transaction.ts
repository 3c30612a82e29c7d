// Sequelize's transaction, but for the line that it prints on stderr where BEGIN, COMMIT or ROLLBACK fails: who called hears of it.
import { type Sequelize, Transaction } from 'sequelize';

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
  readonly #sequelize: Sequelize;

  constructor(sequelize: Sequelize, type: Transaction.TYPES) {
    super(sequelize, { type });
    this.#sequelize = sequelize;
  }

  override async commit(): Promise<void> {
    await this.#end(this.#sequelize.getQueryInterface().commitTransaction(this));
  }

  override async rollback(): Promise<void> {
    await this.#end(this.#sequelize.getQueryInterface().rollbackTransaction(this));
  }

  async #end(statement: Promise<void>): Promise<void> {
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

/** Begins a transaction on a connection of its own, until it is committed or rolled back, once. */
export async function beginTransaction(sequelize: Sequelize, type: Transaction.TYPES): Promise<Transaction> {
  const transaction = new SilentTransaction(sequelize, type);
  await (transaction as unknown as Undeclared).prepareEnvironment(false);
  return transaction;
}
