// The transaction of the current asynchronous context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';

export interface OpenTransaction {
  handle: Transaction;
  afterCommit: (() => void)[];
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
