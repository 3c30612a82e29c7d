// Frequent look-ups: calls that arrive together share one statement.
import DataLoader from 'dataloader';
import { numbered } from './named-values.ts';
import type { StatementRunner } from './statement-runner.ts';

const MAX_BATCH = 64;

/** A look-up written as a single SELECT. Several are combined into one statement. */
export interface Lookup<Key> {
  /** The expressions after SELECT. Values are named `$name`. */
  select: string;
  values(key: Key): Readonly<Record<string, string | null>>;
}

/**
 * Runs one statement at a time. Calls that arrive meanwhile go into the next one, so batches grow with the load and a
 * single
 * call never waits for others.
 */
export function batched<Key, Facts extends object>(
  runner: StatementRunner,
  { select, values }: Lookup<Key>,
): (key: Key) => Promise<Facts | null> {
  const { names } = numbered(select, runner.placeholder);
  const nothing = names.map(() => null);
  /** Keyed by batch size. Sizes are powers of two, so that only a few texts have to be compiled. */
  const statements = new Map<number, string>();
  const waiting: (() => void)[] = [];
  let running = false;

  function statementFor(size: number): string {
    const known = statements.get(size);
    if (known !== undefined) return known;
    const slots = Array.from({ length: size }, (_, slot) => slot);
    const selects = slots.map((slot) => {
      const { text } = numbered(select, runner.placeholder, slot * names.length);
      return `SELECT ${slot} AS "slot", ${text}`;
    });
    const statement = selects.join(' UNION ALL ');
    statements.set(size, statement);
    return statement;
  }

  async function loadAll(keys: readonly Key[]): Promise<(Facts | null)[]> {
    running = true;
    try {
      const size = 2 ** Math.ceil(Math.log2(keys.length));
      const bound: (string | null)[] = [];
      for (const key of keys) {
        const given = values(key);
        for (const name of names) bound.push(given[name] ?? null);
      }
      for (let slot = keys.length; slot < size; slot += 1) bound.push(...nothing);
      const found: (Facts | null)[] = keys.map(() => null);
      const rows = await runner.rows<Facts & { slot: number }>(statementFor(size), bound, true);
      for (const row of rows) found[row.slot] = row;
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
  return (key) => loader.load(key);
}
