// Look-ups that clients hammer: calls that arrive together share one statement.
import DataLoader from 'dataloader';
import type { PreparedQuery } from './prepared-query.ts';

const MAX_BATCH = 64;

/** One look-up as a SELECT of its own; many of them together are one statement. */
export interface Lookup<Key> {
  /** @param parameter the number of the first value */
  select(parameter: number): string;
  values(key: Key): (string | null)[];
  /** Values that find nothing. */
  nothing: null[];
}

/** Texts are few, one for each power of two, so that each is compiled only once. */
function statementFor(lookup: Lookup<never>, size: number): string {
  const slots = Array.from({ length: size }, (_, slot) => slot);
  const selects = slots.map(
    (slot) => `SELECT ${slot} AS "slot", ${lookup.select(slot * lookup.nothing.length + 1)}`,
  );
  return selects.join(' UNION ALL ');
}

/**
 * One statement at a time: what is asked for while it runs goes into the next one, so that batches grow with the load
 * and a single call never waits for others.
 */
export function batched<Key, Facts extends object>(query: PreparedQuery, lookup: Lookup<Key>) {
  const statements = new Map<number, string>();
  const waiting: (() => void)[] = [];
  let running = false;

  async function loadAll(keys: readonly Key[]): Promise<(Facts | null)[]> {
    running = true;
    try {
      const size = 2 ** Math.ceil(Math.log2(keys.length));
      let sql = statements.get(size);
      if (sql === undefined) statements.set(size, (sql = statementFor(lookup, size)));
      const values = keys.flatMap((key) => lookup.values(key));
      for (let slot = keys.length; slot < size; slot += 1) values.push(...lookup.nothing);
      const found: (Facts | null)[] = keys.map(() => null);
      for (const row of await query<Facts & { slot: number }>(sql, values)) found[row.slot] = row;
      return found;
    } finally {
      running = false;
      waiting.shift()?.();
    }
  }

  const loader = new DataLoader<Key, Facts | null>(loadAll, {
    cache: false,
    maxBatchSize: MAX_BATCH,
    batchScheduleFn(run) {
      if (running) waiting.push(run);
      else setImmediate(run);
    },
  });
  return (key: Key): Promise<Facts | null> => loader.load(key);
}
