// Changes of one server that would wait for the same row lock take turns before they open a transaction. On PostgreSQL
// each of them would otherwise hold a connection while it waits, until the lock times out. SQLite has one writer anyway.
import type { Sequelize } from 'sequelize';
import { isShared } from './sql-dialect.ts';

/**
 * Runs the work when all earlier work with the same key has ended. Call it outside a transaction.
 * @param work learns whether it had to wait
 */
export type TakeTurn = <Result>(
  key: number,
  work: (hasWaited: boolean) => Promise<Result>,
) => Promise<Result>;

export function createTurns(sequelize: Sequelize): TakeTurn {
  if (!isShared(sequelize)) return (_key, work) => work(false);
  const last = new Map<number, Promise<unknown>>();
  return (key, work) => {
    const before = last.get(key);
    const mine = before ? before.then(() => work(true)) : work(false);
    const ended = mine.then(
      () => undefined,
      () => undefined,
    );
    last.set(key, ended);
    void ended.then(() => {
      if (last.get(key) === ended) last.delete(key);
    });
    return mine;
  };
}
