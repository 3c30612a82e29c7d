// Changes of one server that would wait for the same row lock take turns before they open a transaction. On PostgreSQL
// each of them would otherwise hold a connection while it waits, until the lock times out. SQLite has one writer anyway.
import type { Sequelize } from 'sequelize';
import { isShared } from './sql-dialect.ts';

/** Runs the work when all earlier work with the same key has ended. Call it outside a transaction. */
export type TakeTurn = <Result>(key: number, work: () => Promise<Result>) => Promise<Result>;

export function createTurns(sequelize: Sequelize): TakeTurn {
  if (!isShared(sequelize)) return (_key, work) => work();
  const last = new Map<number, Promise<unknown>>();
  return (key, work) => {
    const mine = (last.get(key) ?? Promise.resolve()).then(work);
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
