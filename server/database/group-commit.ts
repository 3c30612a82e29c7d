// SQLite has one writer. Changes that wait for it share one BEGIN … COMMIT, and so one wait for the disk. If one of them
// fails, all are taken back and run again with a savepoint between them, so that it takes back only what it wrote itself.
import type { Sequelize, Transaction } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { committing } from './changed-rows.ts';
import { type FirstRead, openTransaction, type OpenTransaction } from './current-transaction.ts';
import { FailedChangeError, LostTransactionError } from './group-failures.ts';
import { writeLater } from './later-rows.ts';
import { beginTransaction, connectionOf } from './sequelize-internals.ts';
import { createSavepoints } from './savepoints.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { StorageGuard } from './storage-guard.ts';
import { refuseGone } from './write-admission.ts';
import { createLockWait, type WriterState } from './write-lock-wait.ts';

/** So many changes wait for one another's commit at most. */
const MAX_GROUP = 64;
/** After this long, a group takes in no further change. On a machine that is busy with other programs, each takes long. */
const GROUP_MS = 200;

interface Writer {
  work(): Promise<unknown>;
  first: FirstRead | undefined;
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

/** What became of the changes of a group. Callers hear of it in the end: a refusal may rest on what others wrote. */
interface Outcomes {
  finished: Finished[];
  /** Those that left nothing behind. */
  refused: { writer: Writer; error: unknown }[];
}

interface Needs {
  sequelize: Sequelize;
  guard: StorageGuard | undefined;
}

interface GroupOptions {
  isAlone: boolean;
  first: FirstRead | undefined;
}

export interface GroupCommit {
  /** Runs the work in its turn. Resolves after the commit is durable. */
  run<Result>(
    work: () => Promise<Result>,
    caller: Caller | undefined,
    options: GroupOptions,
  ): Promise<Result>;
  state(): WriterState;
}

export function createGroupCommit({ sequelize, guard }: Needs): GroupCommit {
  const lockWait = createLockWait();
  let line: Writer[] = [];
  let isWriting = false;
  /** So many at the front of the line run with savepoints, because one of them has failed without. */
  let suspects = 0;

  /** If the rollback fails too, its connection is closed, and the database rolls back by itself. */
  const rollBack = (handle: Transaction) => handle.rollback().catch(() => {});

  /**
   * Reads for the changes at the front of the group together, up to one that may change anything.
   * @returns those whose first read is done
   * @throws FailedChangeError
   */
  async function readAhead(handle: Transaction, group: readonly Writer[]): Promise<Set<Writer>> {
    const end = group.findIndex(({ first, isAlone }) => isAlone || typeof first?.subject !== 'string');
    const some = new Map<string, Writer>();
    for (const writer of end === -1 ? group : group.slice(0, end)) {
      const subject = writer.first?.subject as string;
      // A later change of the same subject reads what the earlier one wrote.
      if (!some.has(subject)) some.set(subject, writer);
    }
    if (some.size < 2) return new Set();
    const current = open(handle);
    try {
      await openTransaction.run(current, () =>
        Promise.all([...some.values()].map(({ first }) => first?.read())),
      );
      if (!current.hasWritten) return new Set(some.values());
      throw new Error('the first read of a change wrote');
    } catch (error) {
      throw setBack(group, group.length, error);
    }
  }

  function open(handle: Transaction): OpenTransaction {
    return { handle, afterCommit: [], hasWritten: false, later: [], failure: null };
  }

  /** @returns what to throw @param count of those that run with savepoints */
  function setBack(group: readonly Writer[], count: number, cause: unknown): FailedChangeError {
    line = [...group, ...line];
    suspects = count;
    return new FailedChangeError('a change has failed', { cause });
  }

  async function runOne(current: OpenTransaction, writer: Writer, hasRead: boolean): Promise<Finished> {
    refuseGone(writer.caller);
    const { first, work } = writer;
    const result = await openTransaction.run(current, async () => {
      if (first && !hasRead) await first.read();
      return work();
    });
    // The change has gone on as if nothing had happened.
    if (current.failure) throw current.failure.error;
    guard?.check();
    return { writer, result, current };
  }

  /**
   * Runs each work in turn. What the group cannot take in goes back to the front of the line.
   * @throws LostTransactionError, or FailedChangeError if the group is to run again with savepoints
   */
  async function runAll(
    handle: Transaction,
    group: readonly Writer[],
    isSuspect: boolean,
    { finished, refused }: Outcomes,
  ): Promise<void> {
    const savepoints = isSuspect ? createSavepoints(connectionOf(handle)) : null;
    const ready = savepoints ? new Set<Writer>() : await readAhead(handle, group);
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
        throw new LostTransactionError(error);
      }
      const current = open(handle);
      if (savepoints) delete current.failure;
      try {
        finished.push(await runOne(current, writer, ready.has(writer)));
      } catch (error) {
        const isRefusal = error instanceof ApiError && !current.hasWritten && !current.failure;
        if (!savepoints && !isRefusal && (index > 0 || current.failure)) {
          throw setBack(group, index + 1, error);
        }
        if (savepoints && (!isRefusal || writer.isAlone)) {
          await savepoints.takeBack().catch(() => {
            writer.reject(error);
            putBack(index + 1);
            throw new LostTransactionError(error);
          });
        }
        refused.push({ writer, error });
        if (!savepoints && !isRefusal) {
          putBack(index + 1);
          break;
        }
      }
      if (writer.isAlone) {
        putBack(index + 1);
        break;
      }
    }
    await savepoints?.close().catch((error: unknown) => {
      throw new LostTransactionError(error);
    });
  }

  /**
   * @returns what to call after the commit
   * @throws the reason why no change of the group stands
   */
  async function commitAll(handle: Transaction, finished: readonly Finished[]): Promise<(() => void)[]> {
    const connection = connectionOf(handle);
    const rows = finished.flatMap(({ current }) => current.later ?? []);
    const shared: OpenTransaction = { handle, afterCommit: [], hasWritten: false };
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
    const outcomes: Outcomes = { finished: [], refused: [] };
    const { finished, refused } = outcomes;
    const rejectAll = (error: unknown) => {
      for (const { writer } of [...finished, ...refused]) writer.reject(error);
    };
    let hooks: (() => void)[] = [];
    const isSuspect = suspects > 0;
    const group = line.splice(0, isSuspect ? suspects : MAX_GROUP);
    suspects = 0;
    try {
      await runAll(handle, group, isSuspect, outcomes);
    } catch (error) {
      await rollBack(handle);
      if (error instanceof FailedChangeError) return;
      if (!(error instanceof LostTransactionError)) throw error;
      rejectAll(error.reason);
      return;
    }
    try {
      if (finished.length > 0) hooks = await commitAll(handle, finished);
      else await rollBack(handle);
    } catch (error) {
      rejectAll(error);
      return;
    }
    for (const { writer, error } of refused) writer.reject(error);
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
    run: <Result>(work: () => Promise<Result>, caller: Caller | undefined, options: GroupOptions) =>
      new Promise<Result>((resolve, reject) => {
        line.push({
          work,
          caller,
          ...options,
          lockWaitMs: lockWait.budget(),
          resolve: resolve as (result: unknown) => void,
          reject,
        });
        if (!isWriting) void writeAll();
      }),
    state: () => lockWait.state(isWriting),
  };
}
