// All writes go through here: a change, its audit entry, its event and the deliveries commit together or not at all.
import { ForeignKeyConstraintError, type Sequelize, Transaction, UniqueConstraintError } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';
import {
  type FirstRead,
  type OnHookError,
  type OpenTransaction,
  openTransaction,
  runHooks,
} from './current-transaction.ts';
import { isConnectionLost } from '#server/platform/database-fault.ts';
import { driverCodeOf } from '#server/platform/driver-error.ts';
import { createGroupCommit } from './group-commit.ts';
import { createPostgresGroups } from './postgres-groups.ts';
import { beginTransaction, RolledBackError } from './sequelize-internals.ts';
import type { StorageGuard } from './storage-guard.ts';
import { createWriteAdmission, refuseGone } from './write-admission.ts';
import type { WriterState } from './write-lock-wait.ts';

/**
 * Runs `work` inside a transaction. Nested calls join the outer transaction. An error in `work` rolls everything back.
 * Fails with `overloaded` if too many changes are waiting. Skipped if the `caller` disconnects before its turn.
 */
export type RunTransaction = <Result>(
  work: () => Promise<Result>,
  caller?: Caller,
  options?: TransactionOptions,
) => Promise<Result>;

export interface TransactionOptions {
  /** For work that may take long: it shares its commit with no other change. */
  alone?: boolean;
  /**
   * For work that is one statement and may be repeated. On PostgreSQL it commits by itself, so that nothing waits for its
   * locks while this server is frozen or cut off.
   */
  single?: boolean;
  /** Read in the transaction before the work begins. */
  first?: FirstRead;
}

export interface Transactions {
  <Result>(work: () => Promise<Result>, caller?: Caller, options?: TransactionOptions): Promise<Result>;
  /** State of this process's writer on SQLite. Always `idle` on PostgreSQL, which has no single writer. */
  writerState(): WriterState;
}

/** Locks rows that a model's `find` reads for a later write. SQLite needs no lock, because it has one writer. */
export function forUpdate(): { lock: Transaction['LOCK']['UPDATE'] } {
  return { lock: Transaction.LOCK.UPDATE };
}

/**
 * Runs independent steps of one transaction without waiting for each round trip. If one step fails, this still waits
 * for the others, so that none runs after the rollback.
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

/** PostgreSQL has rolled back one of two transactions that were in each other's way. */
function isConflict(error: unknown): boolean {
  const code = driverCodeOf(error);
  return code === SERIALIZATION_FAILURE || code === DEADLOCK_DETECTED;
}

/** Two transactions conflicted. When the one that failed retries, it sees the other's changes. */
const isWorthRetrying = (error: unknown): boolean =>
  error instanceof UniqueConstraintError || error instanceof ForeignKeyConstraintError || isConflict(error);

async function readThen<Result>(first: FirstRead | undefined, work: () => Promise<Result>): Promise<Result> {
  await first?.read();
  return work();
}

interface Run {
  guard?: StorageGuard | undefined;
  onHookError?: OnHookError | undefined;
  /** Called before the commit. From here on, only PostgreSQL knows whether the change was made. */
  onCommitting?(): void;
}

const rolledBackAgain = () =>
  new ApiError('unavailable', 'the change was rolled back by the database; retry in a few seconds', {
    headers: { 'Retry-After': '2' },
  });

const warn: OnHookError = (error) => process.emitWarning(error as Error);

/** Runs `work` inside a transaction, once. For other changes than copies of whole databases, use `createTransactions`. */
export async function runOnce<Result>(
  sequelize: Sequelize,
  work: () => Promise<Result>,
  { guard, onHookError = warn, onCommitting }: Run = {},
): Promise<Result> {
  await guard?.checkFresh();
  const handle = await beginTransaction(sequelize);
  const current: OpenTransaction = { handle, afterCommit: [], hasWritten: false };
  let result: Result;
  try {
    result = await openTransaction.run(current, work);
    await guard?.checkFresh();
  } catch (error) {
    // If the rollback fails too, its connection is closed, and the database rolls back by itself.
    await handle.rollback().catch(() => {});
    throw error;
  }
  onCommitting?.();
  // A failed commit is handled the same way.
  await handle.commit();
  runHooks(current.afterCommit, onHookError);
  return result;
}

/** SQLite: one writer, in order of arrival, with `BEGIN IMMEDIATE`. */
function sqliteTransactions(sequelize: Sequelize, guard?: StorageGuard): Transactions {
  const admission = createWriteAdmission();
  const group = createGroupCommit({ sequelize, guard });
  const run: RunTransaction = async (work, caller, { alone = false, first } = {}) => {
    if (openTransaction.getStore()) return readThen(first, work);
    return admission.add(caller, () => group.run(work, caller, { isAlone: alone, first }));
  };
  return Object.assign(run, { writerState: group.state });
}

/**
 * PostgreSQL: several transactions at once, with row locks against conflicts. Changes of single licenses share them.
 * Retries after a conflict, and once after a lost connection if the commit had not begun: PostgreSQL has then rolled back.
 * Retries once, too, if PostgreSQL has answered the commit with a rollback.
 */
function postgresTransactions(
  sequelize: Sequelize,
  guard: StorageGuard | undefined,
  onHookError: OnHookError,
): Transactions {
  const admission = createWriteAdmission();
  const attempt = async <Result>(work: () => Promise<Result>, caller?: Caller): Promise<Result> => {
    let mayReconnect = true;
    let wasRolledBack = false;
    for (let count = 1; ; count += 1) {
      let isCommitting = false;
      const onCommitting = () => void (isCommitting = true);
      try {
        refuseGone(caller);
        return await runOnce(sequelize, work, { guard, onHookError, onCommitting });
      } catch (error) {
        if (error instanceof RolledBackError) {
          if (wasRolledBack) throw rolledBackAgain();
          wasRolledBack = true;
          continue;
        }
        const isLost = mayReconnect && !isCommitting && isConnectionLost(error);
        if (!isLost && !isWorthRetrying(error)) throw error;
        if (count >= POSTGRES_ATTEMPTS) throw isConflict(error) ? rolledBackAgain() : error;
        if (isLost) mayReconnect = false;
      }
    }
  };
  const runSingle = async <Result>(statement: () => Promise<Result>): Promise<Result> => {
    await guard?.checkFresh();
    try {
      return await statement();
    } catch (error) {
      if (!isConnectionLost(error)) throw error;
      return statement();
    }
  };
  const groups = createPostgresGroups({ sequelize, guard, isWorthRetrying, onHookError });
  const run: RunTransaction = async (work, caller, { alone = false, single = false, first } = {}) => {
    if (openTransaction.getStore()) return readThen(first, work);
    if (single) return admission.add(caller, () => runSingle(work));
    const runAlone = () => attempt(() => readThen(first, work), caller);
    return admission.add(caller, () => {
      if (alone || typeof first?.subject !== 'string') return runAlone();
      const { subject, read } = first;
      return groups.run({ first: { subject, read }, work, caller, runAlone });
    });
  };
  return Object.assign(run, { writerState: () => 'idle' as const });
}

/** @param guard stops writes when the database files are gone */
export function createTransactions(
  sequelize: Sequelize,
  guard?: StorageGuard,
  onHookError: OnHookError = warn,
): Transactions {
  return sequelize.getDialect() === 'sqlite'
    ? sqliteTransactions(sequelize, guard)
    : postgresTransactions(sequelize, guard, onHookError);
}
