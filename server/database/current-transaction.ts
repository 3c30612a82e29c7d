// The transaction of the current asynchronous context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';

/** Receives the IDs of new rows, in the transaction that writes them. */
export type OnInserted = (ids: number[]) => Promise<void>;

/** Inserts rows of one table. */
export interface LaterTable {
  /** The statement for so many rows, which returns their IDs. */
  insert(rows: number): string;
  onInserted: OnInserted | undefined;
}

export interface LaterRow {
  table: LaterTable;
  values: readonly unknown[];
}

export interface OpenTransaction {
  handle: Transaction;
  afterCommit: (() => void)[];
  /** Rows to be written right before the commit; only where changes share a commit. */
  later?: LaterRow[];
}

export const openTransaction = new AsyncLocalStorage<OpenTransaction>();

/** Returns the transaction that the running code is part of. */
export function currentTransaction(): Transaction | undefined {
  return openTransaction.getStore()?.handle;
}

/**
 * Runs `hook` after the current transaction has committed and before its caller resumes. Never runs after a rollback.
 */
export function afterCommit(hook: () => void): void {
  const current = openTransaction.getStore();
  if (!current) throw new Error('afterCommit() was called outside a transaction');
  current.afterCommit.push(hook);
}
