// Changes of single licenses that wait for PostgreSQL share a transaction: its statements, and its wait for the disk. They
// run at the same time. A group locks what it changes all at once and leaves out what is locked elsewhere, so that no
// change waits for a lock that another one of its group needs. If one fails, all are taken back, and the others run again,
// each in a separate transaction.
import type { Sequelize, Transaction } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';
import {
  type ChangeGroup,
  type FirstRead,
  type OnHookError,
  openTransaction,
  type OpenTransaction,
  runHooks,
} from './current-transaction.ts';
import { faultOf, isConnectionLost } from '#server/platform/database-fault.ts';
import { writeLaterOnPostgres } from './later-rows.ts';
import { RowLockedError } from './locks.ts';
import { beginTransaction, postgresConnectionOf, RolledBackError } from './sequelize-internals.ts';
import { orHung, orStalled } from './stalled.ts';
import type { StorageGuard } from './storage-guard.ts';
import { refuseGone } from './write-admission.ts';

/** So many changes wait for one another's commit at most. */
const MAX_GROUP = 64;
/** After this long, a group takes in no further change. */
const GROUP_MS = 200;
/** So many groups of one line run at once if each of them stalls. The pool has ten connections. */
const MAX_STALLED = 4;
/** So many groups of contested lines run at once, of all lines together. */
const MAX_CONTESTED = 4;

interface Writer extends Change<unknown> {
  subject: string;
  resolve(result: unknown): void;
  reject(error: unknown): void;
}

/** Changes that wait for a transaction. */
interface Line {
  waiting: Writer[];
  /** Transactions under way. */
  groups: number;
  /** Whether the newest one has not stalled. */
  isBusy: boolean;
  /** All of its changes change this; it may be locked elsewhere. Null for the line of all others. */
  subject: string | null;
}

/** A change in the transaction of its group. */
interface ChangeRun {
  writer: Writer;
  current: OpenTransaction;
  /** Null until it has run. */
  end: PromiseSettledResult<unknown> | null;
}

/** A change of the group has failed, and the transaction with it. */
class BrokenGroupError extends Error {
  override readonly name = 'BrokenGroupError';
}

interface Needs {
  sequelize: Sequelize;
  guard: StorageGuard | undefined;
  /** Whether a transaction that fails with this may succeed when it is run again. It has not been committed. */
  isWorthRetrying(error: unknown): boolean;
  onHookError: OnHookError;
}

interface Change<Result> {
  first: FirstRead & { subject: string };
  work(): Promise<Result>;
  caller: Caller | undefined;
  /** Runs the change in a separate transaction. */
  runAlone(): Promise<Result>;
}

export interface PostgresGroups {
  /** Runs the change in its turn. Resolves after the commit is durable. */
  run<Result>(change: Change<Result>): Promise<Result>;
}

const newLine = (subject: string | null): Line => ({ waiting: [], groups: 0, isBusy: false, subject });

/** @returns the first that has not run of each subject */
function nextRound(runs: readonly ChangeRun[]): ChangeRun[] {
  const waiting = runs.filter(({ end }) => end === null);
  return [...new Map(waiting.toReversed().map((run) => [run.writer.subject, run])).values()];
}

const isRefusal = (error: unknown): boolean => error instanceof ApiError || error instanceof RowLockedError;

/** Whether the transaction cannot go on without the change. */
const isBreaking = ({ current, end }: ChangeRun): boolean =>
  end?.status === 'rejected' && (current.hasWritten || !isRefusal(end.reason));

const isFinished = ({ end }: ChangeRun): boolean => end?.status === 'fulfilled';

export function createPostgresGroups({
  sequelize,
  guard,
  isWorthRetrying,
  onHookError,
}: Needs): PostgresGroups {
  const main = newLine(null);
  /** By subject, while it is locked elsewhere. */
  const contested = new Map<string, Line>();
  let contestedGroups = 0;

  function add(line: Line, writer: Writer): void {
    line.waiting.push(writer);
    startNext(line);
  }

  /** @param error of a transaction that has not been committed */
  function runAgain(writer: Writer, error: unknown): void {
    const { subject } = writer;
    if (error instanceof RowLockedError) {
      const line = contested.get(subject) ?? newLine(subject);
      contested.set(subject, line);
      add(line, writer);
    } else if (faultOf(error) !== null && !isConnectionLost(error)) writer.reject(error);
    else writer.runAlone().then(writer.resolve, writer.reject);
  }

  /** If this fails, the connection is closed, and PostgreSQL rolls back by itself. */
  const rollBack = (handle: Transaction) =>
    orHung(postgresConnectionOf(handle), handle.rollback()).catch(() => {});

  async function runOne({ writer: { first, work, caller }, current }: ChangeRun): Promise<unknown> {
    refuseGone(caller);
    return openTransaction.run(current, async () => {
      await first.read();
      return work();
    });
  }

  /**
   * Runs changes of different subjects at the same time, then the next ones of the same subjects.
   * @throws BrokenGroupError
   */
  async function runAll(runs: readonly ChangeRun[]): Promise<void> {
    const startedAt = performance.now();
    for (let round = nextRound(runs); round.length > 0; round = nextRound(runs)) {
      const ends = await Promise.allSettled(round.map(runOne));
      for (const [index, run] of round.entries()) run.end = ends[index] ?? null;
      const failed = round.find(isBreaking);
      if (failed?.end?.status === 'rejected')
        throw new BrokenGroupError('a change of the group has failed', { cause: failed.end.reason });
      if (performance.now() - startedAt > GROUP_MS) return;
    }
  }

  /** Writes what the changes have left for the end. @returns what to call after the commit */
  async function writeRows({ handle, group }: OpenTransaction, runs: readonly ChangeRun[]) {
    const shared: OpenTransaction = { handle, afterCommit: [], hasWritten: false };
    if (group) shared.group = group;
    const rows = runs.filter(isFinished).flatMap(({ current }) => current.later ?? []);
    await openTransaction.run(shared, () => writeLaterOnPostgres(rows));
    return shared.afterCommit;
  }

  function confirm(runs: readonly ChangeRun[], hooks: readonly (() => void)[]): void {
    for (const { writer, current, end } of runs) {
      if (end?.status !== 'fulfilled') {
        if (end?.reason instanceof ApiError) writer.reject(end.reason);
        else runAgain(writer, end?.reason);
        continue;
      }
      runHooks(current.afterCommit, onHookError);
      writer.resolve(end.value);
    }
    // Still before any of the callers resumes.
    runHooks(hooks, onHookError);
  }

  async function runGroup(line: Line): Promise<void> {
    let handle: Transaction;
    try {
      await guard?.checkFresh();
      handle = await beginTransaction(sequelize);
    } catch (error) {
      for (const writer of line.waiting.splice(0, MAX_GROUP)) runAgain(writer, error);
      return;
    }
    const group: ChangeGroup = { mayWait: line.subject !== null, shared: new Map() };
    const open = (): OpenTransaction => ({ handle, afterCommit: [], hasWritten: false, later: [], group });
    const taken = line.waiting.splice(0, MAX_GROUP);
    let runs: ChangeRun[] = taken.map((writer) => ({ writer, current: open(), end: null }));
    let hooks: (() => void)[] = [];
    let isCommitting = false;
    try {
      await runAll(runs);
      line.waiting.unshift(...runs.filter(({ end }) => end === null).map(({ writer }) => writer));
      runs = runs.filter(({ end }) => end !== null);
      if (runs.some(isFinished)) {
        hooks = await writeRows(open(), runs);
        await guard?.checkFresh();
        isCommitting = true;
        // Not bounded: a commit that waits for a replica or a disk may still be applied after its connection is closed.
        await handle.commit();
      } else await rollBack(handle);
    } catch (error) {
      if (!isCommitting) await rollBack(handle);
      const isUnknown = isCommitting && !(error instanceof RolledBackError || isWorthRetrying(error));
      // Where all change the same, all have waited for the lock that one of them did not get.
      const shared = error instanceof BrokenGroupError && line.subject !== null ? error.cause : error;
      for (const run of runs) {
        if (isUnknown && isFinished(run)) run.writer.reject(error);
        else runAgain(run.writer, run.end?.status === 'rejected' ? run.end.reason : shared);
      }
      return;
    }
    confirm(runs, hooks);
  }

  function startNext(line: Line): void {
    const { subject } = line;
    if (line.waiting.length === 0) {
      if (subject !== null && line.groups === 0 && contested.get(subject) === line) contested.delete(subject);
      return;
    }
    if (line.isBusy || line.groups >= MAX_STALLED) return;
    if (subject !== null && contestedGroups >= MAX_CONTESTED) return;
    const count = (change: number) => {
      line.groups += change;
      if (subject !== null) contestedGroups += change;
    };
    line.isBusy = true;
    count(1);
    const next = () => (subject === null ? startNext(line) : startContested(subject, line));
    const free = () => {
      line.isBusy = false;
      next();
    };
    const running = runGroup(line).finally(() => count(-1));
    orStalled(running, free).finally(next).catch(onHookError);
  }

  /** Starts what has waited for a group of `line`, which itself comes last. */
  function startContested(subject: string, line: Line): void {
    if (contested.get(subject) === line) {
      contested.delete(subject);
      contested.set(subject, line);
    }
    for (const waiting of contested.values()) startNext(waiting);
  }

  return {
    run: <Result>({ first, ...change }: Change<Result>) =>
      new Promise<Result>((resolve, reject) => {
        const writer = {
          ...change,
          subject: first.subject,
          first,
          resolve: resolve as Writer['resolve'],
          reject,
        };
        add(contested.get(first.subject) ?? main, writer);
      }),
  };
}
