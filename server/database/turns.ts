// Changes of one server that would wait for the same row lock take turns before they open a transaction. On PostgreSQL
// each of them would otherwise hold a connection while it waits, until the lock times out. SQLite has one writer anyway.
import type { Sequelize } from 'sequelize';
import type { Caller } from '#server/platform/call.ts';
import { DatabaseFaultError } from '#server/platform/database-fault.ts';
import { isShared } from './sql-dialect.ts';
import { orStalled } from './stalled.ts';
import { createWriteAdmission, overloaded, refuseGone } from './write-admission.ts';

/**
 * A change waits no longer than this for its turn, as for a connection, and holds up the next one no longer than this: its
 * connection may never answer. Row locks keep them apart then.
 */
const TURN_MS = 10_000;
/** Limit for the API clients that wait in one line, so that one busy license leaves places for others. */
const MAX_CALLERS_IN_LINE = 500;

/**
 * Runs the work when all earlier work with the same key has ended. Call it outside a transaction.
 * @param work learns whether it had to wait
 * @param caller the API client that waits for it
 * @throws ApiError `overloaded` if too many wait, or if the caller has disconnected; DatabaseFaultError `busy`
 */
export type TakeTurn = <Result>(
  key: number,
  work: (hasWaited: boolean) => Promise<Result>,
  caller?: Caller,
) => Promise<Result>;

const tooLate = () =>
  new DatabaseFaultError('busy', `earlier changes of the same license take longer than ${TURN_MS / 1000} s`);

export function createTurns(sequelize: Sequelize): TakeTurn {
  if (!isShared(sequelize)) return (_key, work) => work(false);
  const admission = createWriteAdmission();
  /** By key, while there is work: begins the turns that wait, in the order in which they came. */
  const lines = new Map<number, Set<() => void>>();

  const turnIn = (line: Set<() => void>): Promise<void> =>
    new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer);
        resolve();
      };
      const timer = setTimeout(() => {
        line.delete(begin);
        reject(tooLate());
      }, TURN_MS);
      line.add(begin);
    });

  function beginNext(key: number, line: Set<() => void>): void {
    const [next] = line;
    if (next) {
      line.delete(next);
      next();
    } else lines.delete(key);
  }

  async function inTurn<Result>(work: () => Promise<Result>, caller: Caller | undefined): Promise<Result> {
    refuseGone(caller);
    return work();
  }

  return async (key, work, caller) => {
    const waiting = lines.get(key);
    const line = waiting ?? new Set();
    if (waiting) {
      if (caller && waiting.size >= MAX_CALLERS_IN_LINE) throw overloaded();
      await admission.add(caller, () => turnIn(waiting));
    } else lines.set(key, line);
    const hasWaited = waiting !== undefined;
    return orStalled(
      inTurn(() => work(hasWaited), caller),
      () => beginNext(key, line),
      TURN_MS,
    );
  };
}
