// The transaction that the running code is in, by its asynchronous context.
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Transaction } from 'sequelize';

export interface OpenTransaction {
  handle: Transaction;
  afterCommit: (() => void)[];
}

export const openTransaction = new AsyncLocalStorage<OpenTransaction>();

/** The transaction that the running code is in. */
export function currentTransaction(): Transaction | undefined {
  return openTransaction.getStore()?.handle;
}

/** Runs `hook` once the current transaction has committed, before its caller hears of it; never after a rollback. */
export function afterCommit(hook: () => void): void {
  const current = openTransaction.getStore();
  if (!current) throw new Error('afterCommit() outside a transaction');
  current.afterCommit.push(hook);
}
