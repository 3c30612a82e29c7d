// The one door for writes: a change, its audit row, its event and the event's deliveries commit together or not at all.
import { ForeignKeyConstraintError, type Sequelize, Transaction, UniqueConstraintError } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { type OpenTransaction, openTransaction } from './current-transaction.ts';
import { beginTransaction } from './sequelize-internals.ts';
import type { StorageGuard } from './storage-guard.ts';
import { createWriteAdmission, refuseGone } from './write-admission.ts';
import { createWriteQueue, type WriterState } from './write-queue.ts';

/**
 * Runs `work` inside a transaction; inside another one it simply joins. Whatever `work` throws rolls everything back.
 * Refused with `overloaded` if too many changes are waiting; dropped if its `caller` has gone before its turn.
 */
export type RunTransaction = <Result>(work: () => Promise<Result>, caller?: Caller) => Promise<Result>;

export interface Transactions {
  <Result>(work: () => Promise<Result>, caller?: Caller): Promise<Result>;
  /** Of this process's own writer on SQLite; PostgreSQL has no single one, and is always `idle`. */
  writerState(): WriterState;
}

/** Row locks for a model's `find` that decides what is written next; SQLite needs none, as it has one writer. */
export function forUpdate(): { lock: Transaction['LOCK']['UPDATE'] } {
  return { lock: Transaction.LOCK.UPDATE };
}

/**
 * Steps of one transaction that need nothing of each other, without a way to the database and back between them. Should
 * one fail, the others have ended all the same before this does: none of them is left to run behind the rollback.
 */
export async function together<Results extends unknown[]>(
  ...steps: { [Step in keyof Results]: Promise<Results[Step]> }
): Promise<Results> {
  await Promise.allSettled(steps);
  return Promise.all(steps) as Promise<Results>;
}

const POSTGRES_ATTEMPTS = 5;
const SERIALIZATION_FAILURE = '40001';
const DEADLOCK_DETECTED = '40P01';

/** Two callers met; the one that lost finds what the other wrote when it tries again. */
function isWorthRetrying(error: unknown): boolean {
  if (error instanceof UniqueConstraintError || error instanceof ForeignKeyConstraintError) return true;
  const code = (error as { original?: { code?: string } } | null)?.original?.code;
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

async function runOnce<Result>(
  begin: () => Promise<Transaction>,
  work: () => Promise<Result>,
  guard?: StorageGuard,
): Promise<Result> {
  guard?.check();
  const handle = await begin();
  const current: OpenTransaction = { handle, afterCommit: [] };
  let result: Result;
  try {
    result = await openTransaction.run(current, work);
    guard?.check();
  } catch (error) {
    // If that fails, too, its connection is closed, and the database rolls back by itself.
    await handle.rollback().catch(() => {});
    throw error;
  }
  // The same goes for a commit that fails.
  await handle.commit();
  for (const hook of current.afterCommit) hook();
  return result;
}

/** SQLite: one writer at a time, in the order they came, each with `BEGIN IMMEDIATE`. */
function sqliteTransactions(sequelize: Sequelize, guard?: StorageGuard): Transactions {
  const admission = createWriteAdmission();
  const queue = createWriteQueue();
  const run: RunTransaction = async (work, caller) => {
    if (openTransaction.getStore()) return work();
    return admission.add(caller, () =>
      queue.run((begin) => {
        refuseGone(caller);
        return runOnce(() => begin((waitMs) => beginTransaction(sequelize, waitMs)), work, guard);
      }),
    );
  };
  return Object.assign(run, { writerState: queue.state });
}

/** PostgreSQL: as many as there are connections, with row locks where two could meet, and another try when they do. */
function postgresTransactions(sequelize: Sequelize, guard?: StorageGuard): Transactions {
  const admission = createWriteAdmission();
  const attempt = async <Result>(work: () => Promise<Result>, caller?: Caller): Promise<Result> => {
    for (let count = 1; ; count += 1) {
      try {
        refuseGone(caller);
        return await runOnce(() => beginTransaction(sequelize), work, guard);
      } catch (error) {
        if (count >= POSTGRES_ATTEMPTS || !isWorthRetrying(error)) throw error;
      }
    }
  };
  const run: RunTransaction = async (work, caller) =>
    openTransaction.getStore() ? work() : admission.add(caller, () => attempt(work, caller));
  return Object.assign(run, { writerState: () => 'idle' as const });
}

/** @param guard stops writes when the database's files are gone */
export function createTransactions(sequelize: Sequelize, guard?: StorageGuard): Transactions {
  return sequelize.getDialect() === 'sqlite'
    ? sqliteTransactions(sequelize, guard)
    : postgresTransactions(sequelize, guard);
}
