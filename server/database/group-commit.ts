// SQLite has one writer. Changes that wait for it share one BEGIN … COMMIT, and so one wait for the disk, with a
// savepoint between them: one that fails takes back only what it wrote itself.
import type { Sequelize, Transaction } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { committing } from './changed-rows.ts';
import { runCompiled } from './compiled-statements.ts';
import { openTransaction, type OpenTransaction } from './current-transaction.ts';
import { faultOf } from './database-fault.ts';
import { writeLater } from './later-rows.ts';
import { beginTransaction, connectionOf } from './sequelize-internals.ts';
import type { SqliteConnection } from './sqlite-connection.ts';
import type { StorageGuard } from './storage-guard.ts';
import { refuseGone } from './write-admission.ts';
import { createLockWait, type WriterState } from './write-lock-wait.ts';

/** So many changes wait for one another's commit at most. */
const MAX_GROUP = 64;
/** After this long, a group takes in no further change. On a machine that is busy with other programs, each takes long. */
const GROUP_MS = 200;

interface Writer {
  work(): Promise<unknown>;
  caller: Caller | undefined;
  /** Set for a change that may take long: none before it may wait for it. */
  isAlone: boolean;
  lockWaitMs(): number;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

interface Finished {
  writer: Writer;
  result: unknown;
  current: OpenTransaction;
}

/** No change of the group stands: SQLite has rolled the transaction back, as it does when the disk is full. */
class LostTransactionError extends Error {
  override readonly name = 'LostTransactionError';
  readonly finished: readonly Finished[];

  constructor(finished: readonly Finished[], cause: unknown) {
    super('the transaction was rolled back because another change failed', { cause });
    this.finished = finished;
  }

  /** What the callers of the finished changes get. */
  get reason(): unknown {
    return faultOf(this.cause) ? this.cause : this;
  }
}

/**
 * The savepoints of a group: one before all changes, and one before each. They nest until the commit, because releasing
 * each would cost another turn of a thread.
 */
function createSavepoints(connection: SqliteConnection) {
  let isOpen = false;
  let isUntouched = false;
  return {
    async begin(): Promise<void> {
      if (!isOpen) await runCompiled(connection, 'SAVEPOINT whole');
      isOpen = true;
      if (!isUntouched) await runCompiled(connection, 'SAVEPOINT change');
      isUntouched = false;
    },
    async takeBack(): Promise<void> {
      await runCompiled(connection, 'ROLLBACK TO change');
      // It still stands, with nothing behind it.
      isUntouched = true;
    },
    /** Fails if SQLite has rolled the transaction back meanwhile: a savepoint would have begun another one. */
    close: () => runCompiled(connection, 'RELEASE whole'),
  };
}

interface Needs {
  sequelize: Sequelize;
  guard: StorageGuard | undefined;
}

export interface GroupCommit {
  /** Runs the work in its turn. Resolves after the commit is durable. */
  run<Result>(work: () => Promise<Result>, caller: Caller | undefined, isAlone: boolean): Promise<Result>;
  state(): WriterState;
}

export function createGroupCommit({ sequelize, guard }: Needs): GroupCommit {
  const lockWait = createLockWait();
  let line: Writer[] = [];
  let isWriting = false;

  /** If the rollback fails too, its connection is closed, and the database rolls back by itself. */
  const rollBack = (handle: Transaction) => handle.rollback().catch(() => {});

  async function runOne(handle: Transaction, writer: Writer): Promise<Finished> {
    const { work, caller } = writer;
    refuseGone(caller);
    const current: OpenTransaction = { handle, afterCommit: [], later: [] };
    const result = await openTransaction.run(current, work);
    guard?.check();
    return { writer, result, current };
  }

  /**
   * Runs each work in turn. What the group cannot take in goes back to the front of the line.
   * @returns those whose changes stand
   * @throws LostTransactionError
   */
  async function runAll(handle: Transaction, group: readonly Writer[]): Promise<Finished[]> {
    const finished: Finished[] = [];
    const savepoints = group.length > 1 ? createSavepoints(connectionOf(handle)) : null;
    const startedAt = performance.now();
    const putBack = (from: number) => (line = [...group.slice(from), ...line]);
    for (const [index, writer] of group.entries()) {
      if (index > 0 && (writer.isAlone || performance.now() - startedAt > GROUP_MS)) {
        putBack(index);
        break;
      }
      try {
        await savepoints?.begin();
      } catch (error) {
        writer.reject(error);
        putBack(index + 1);
        throw new LostTransactionError(finished, error);
      }
      try {
        finished.push(await runOne(handle, writer));
      } catch (error) {
        writer.reject(error);
        await savepoints?.takeBack().catch(() => {
          putBack(index + 1);
          throw new LostTransactionError(finished, error);
        });
      }
      if (writer.isAlone) {
        putBack(index + 1);
        break;
      }
    }
    await savepoints?.close().catch((error: unknown) => {
      throw new LostTransactionError(finished, error);
    });
    return finished;
  }

  /**
   * @returns what to call after the commit
   * @throws the reason why no change of the group stands
   */
  async function commitAll(handle: Transaction, finished: readonly Finished[]): Promise<(() => void)[]> {
    const connection = connectionOf(handle);
    const rows = finished.flatMap(({ current }) => current.later ?? []);
    const shared: OpenTransaction = { handle, afterCommit: [] };
    let isEnding = false;
    try {
      if (rows.length > 0) await openTransaction.run(shared, () => writeLater(connection, rows));
      await committing(sequelize, connection, () => {
        isEnding = true;
        return handle.commit();
      });
    } catch (error) {
      // A failed commit has already given its connection up.
      if (!isEnding) await rollBack(handle);
      throw error;
    }
    return shared.afterCommit;
  }

  async function runGroup(handle: Transaction): Promise<void> {
    let finished: readonly Finished[] = [];
    let hooks: (() => void)[] = [];
    try {
      finished = await runAll(handle, line.splice(0, MAX_GROUP));
    } catch (error) {
      await rollBack(handle);
      if (!(error instanceof LostTransactionError)) throw error;
      for (const { writer } of error.finished) writer.reject(error.reason);
      return;
    }
    try {
      if (finished.length > 0) hooks = await commitAll(handle, finished);
      else await rollBack(handle);
    } catch (error) {
      for (const { writer } of finished) writer.reject(error);
      return;
    }
    for (const { writer, result, current } of finished) {
      try {
        for (const hook of current.afterCommit) hook();
        writer.resolve(result);
      } catch (error) {
        writer.reject(error);
      }
    }
    // Still before any of the callers resumes.
    for (const hook of hooks) hook();
  }

  async function writeAll(): Promise<void> {
    isWriting = true;
    try {
      for (let first = line[0]; first; first = line[0]) {
        const handle = await begin(first);
        if (handle) await runGroup(handle);
      }
    } finally {
      isWriting = false;
    }
  }

  /** Takes the lock for the first in line. @returns null if that fails, and with it the change */
  async function begin(first: Writer): Promise<Transaction | null> {
    try {
      refuseGone(first.caller);
      guard?.check();
      return await lockWait.during(first.lockWaitMs(), (waitMs) => beginTransaction(sequelize, waitMs));
    } catch (error) {
      line.shift();
      first.reject(error);
      return null;
    }
  }

  return {
    run: <Result>(work: () => Promise<Result>, caller: Caller | undefined, isAlone: boolean) =>
      new Promise<Result>((resolve, reject) => {
        line.push({
          work,
          caller,
          isAlone,
          lockWaitMs: lockWait.budget(),
          resolve: resolve as (result: unknown) => void,
          reject,
        });
        if (!isWriting) void writeAll();
      }),
    state: () => lockWait.state(isWriting),
  };
}
