// Frequent look-ups: calls that arrive together share one statement.
import DataLoader from 'dataloader';
import { asked, type JsonLists, lookupText } from './lookup-text.ts';
import { numbered } from './named-values.ts';
import { orStalled } from './stalled.ts';
import type { StatementRunner } from './statement-runner.ts';

const MAX_BATCH = 64;

/** A look-up written as the parts of a single SELECT. */
export interface Lookup<Key> {
  /** The selected expressions, each with its name: `AS "name"`. */
  columns: string;
  /** The tables and the condition, after FROM. Values are named `$name`. Finds at most one row. */
  from: string;
  values(key: Key): Readonly<Record<string, string | null>>;
}

const COLUMN_NAME = / AS "(\w+)"/gu;

/** @returns looks up several keys with one statement, in their order */
export function lookupOf<Key, Facts extends object>(
  runner: StatementRunner,
  lists: JsonLists,
  { columns, from, values }: Lookup<Key>,
): (keys: readonly Key[]) => Promise<(Facts | null)[]> {
  const { names } = numbered(from, runner.placeholder);
  const facts = Array.from(columns.matchAll(COLUMN_NAME), ([, name]) => name as string);
  const statement = numbered(lookupText(lists, { names, columns, facts, from }), runner.placeholder).text;

  /** @param row the slot of the key, followed by the facts in their order */
  function toFacts(row: readonly unknown[]): Facts {
    const found: Record<string, unknown> = {};
    for (let index = 0; index < facts.length; index += 1) found[facts[index] as string] = row[index + 1];
    return found as Facts;
  }

  return async (keys) => {
    const given = keys.map((key) => {
      const named = values(key);
      return names.map((name) => named[name] ?? null);
    });
    const found: (Facts | null)[] = keys.map(() => null);
    const [reply] = await runner.lookUp<{ found: string }>(statement, [asked(given)]);
    for (const row of JSON.parse(reply?.found ?? '[]') as [number, ...unknown[]][])
      found[row[0]] = toFacts(row);
    return found;
  };
}

/**
 * Runs one statement at a time. Calls that arrive meanwhile go into the next one, so batches grow with the load and a
 * single call never waits for others. The next one does not wait for a statement that has stalled.
 */
export function batched<Key, Facts extends object>(
  lookUp: (keys: readonly Key[]) => Promise<(Facts | null)[]>,
): (key: Key) => Promise<Facts | null> {
  const waiting: (() => void)[] = [];
  let isBusy = false;

  function startNext(): void {
    isBusy = false;
    waiting.shift()?.();
  }

  const loader = new DataLoader<Key, Facts | null>(
    (keys) => {
      isBusy = true;
      return orStalled(lookUp(keys), startNext);
    },
    {
      cache: false,
      maxBatchSize: MAX_BATCH,
      batchScheduleFn(run) {
        if (isBusy) waiting.push(run);
        else setImmediate(run);
      },
    },
  );
  return (key) => loader.load(key);
}
