// Frequent look-ups: calls that arrive together share one statement.
import DataLoader from 'dataloader';
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
  const ask = runner.batch<Facts & { slot: number }>(select);
  const waiting: (() => void)[] = [];
  let running = false;

  async function loadAll(keys: readonly Key[]): Promise<(Facts | null)[]> {
    running = true;
    try {
      const found: (Facts | null)[] = keys.map(() => null);
      for (const row of await ask(keys.map(values))) found[row.slot] = row;
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
