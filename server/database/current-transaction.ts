// The transaction of the current asynchronous context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';

/** Receives the IDs of new rows, in the transaction that writes them. */
export type OnInserted = (ids: number[]) => Promise<void>;

/** Inserts rows of one table. */
export interface LaterTable {
  /** The statement for so many rows, which returns their IDs. */
  insert(rows: number): string;
  /** Inserts any number of rows by one statement, and returns their IDs in the same order. PostgreSQL only. */
  insertAll(rows: readonly (readonly unknown[])[]): Promise<number[]>;
  onInserted: OnInserted | undefined;
}

export interface LaterRow {
  table: LaterTable;
  values: readonly unknown[];
}

/** What a change reads before anything else. Changes that share a commit read together. */
export interface FirstRead {
  /** The only thing that the change changes, such as a license key; null if that is not known. `read` locks it. */
  subject: string | null;
  /** May be called several times; the last result counts. Writes nothing. */
  read(): Promise<void>;
}

/** Changes that share a transaction on PostgreSQL and run at the same time. */
export interface ChangeGroup {
  /** Whether its changes may wait for rows that other transactions have locked. */
  mayWait: boolean;
  /** What its changes have in common, by the statement that they share. */
  shared: Map<object, unknown>;
}

export interface OpenTransaction {
  handle: Transaction;
  afterCommit: (() => void)[];
  /** Whether a statement may have written since the change began. */
  hasWritten: boolean;
  /**
   * The error of a statement, if none may follow it: SQLite may have rolled the transaction back, and would confirm
   * each further statement by itself. Null if nothing has failed; undefined where a savepoint stands in for that.
   */
  failure?: { error: unknown } | null;
  /** Rows to be written right before the commit; only where changes share a commit. */
  later?: LaterRow[];
  group?: ChangeGroup;
}

export const openTransaction = new AsyncLocalStorage<OpenTransaction>();

/** Returns the transaction that the running code is part of. */
export function currentTransaction(): Transaction | undefined {
  return openTransaction.getStore()?.handle;
}

/** The same for a statement that may write. */
export function writingTransaction(): Transaction | undefined {
  const current = openTransaction.getStore();
  if (current) current.hasWritten = true;
  return current?.handle;
}

/** Runs `work` on another database, which must not join the current transaction. */
export function outsideTransaction<Result>(work: () => Result): Result {
  return openTransaction.exit(work);
}

/**
 * Runs `hook` after the current transaction has committed and before its caller resumes. Never runs after a rollback.
 */
export function afterCommit(hook: () => void): void {
  const current = openTransaction.getStore();
  if (!current) throw new Error('afterCommit() was called outside a transaction');
  current.afterCommit.push(hook);
}

/** Receives what a hook has thrown: its change stands, so its caller must not hear of a failure. */
export type OnHookError = (error: unknown) => void;

export function runHooks(hooks: readonly (() => void)[], onError: OnHookError): void {
  for (const hook of hooks) {
    try {
      hook();
    } catch (error) {
      onError(error);
    }
  }
}
