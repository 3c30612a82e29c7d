// The reads of one reply, several at once where the database can answer them on several connections.
import type { Sequelize } from 'sequelize';
import { isShared } from './sql-dialect.ts';
import { together } from './transaction.ts';

/** Call it outside a transaction, with reads that do not depend on each other: those that take longest first. */
export type ReadTogether = <Results extends unknown[]>(
  ...reads: { [Read in keyof Results]: () => Promise<Results[Read]> }
) => Promise<Results>;

/** Of all callers: this leaves most connections to other calls. */
const POSTGRES_AT_ONCE = 3;

function createReadTogether(sequelize: Sequelize): ReadTogether {
  // SQLite has one connection for them, and those that wait for it would keep threads from everything else.
  const atOnce = isShared(sequelize) ? POSTGRES_AT_ONCE : 1;
  const waiting: (() => void)[] = [];
  let running = 0;

  async function inTurn<Result>(read: () => Promise<Result>): Promise<Result> {
    if (running >= atOnce) await new Promise<void>((start) => void waiting.push(start));
    else running += 1;
    try {
      return await read();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else running -= 1;
    }
  }

  return <Results extends unknown[]>(...reads: { [Read in keyof Results]: () => Promise<Results[Read]> }) =>
    together<Results>(...(reads.map(inTurn) as { [Read in keyof Results]: Promise<Results[Read]> }));
}

const created = new WeakMap<Sequelize, ReadTogether>();

export function readTogether(sequelize: Sequelize): ReadTogether {
  const known = created.get(sequelize) ?? createReadTogether(sequelize);
  created.set(sequelize, known);
  return known;
}
