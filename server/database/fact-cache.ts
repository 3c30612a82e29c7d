// Keeps the facts behind frequent answers in memory for as long as no commit changes them. Exact only where this process
// alone writes the database.
import type { ChangedKeys, CommitListener } from './changed-rows.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** Keys share this many slots. A collision only costs a look-up. */
const SLOTS = 2 ** 16;

interface Entry<Facts> {
  facts: Facts;
  /** The moment at which its look-up began. */
  readAt: number;
}

/** Counts the changes of all sources together, so that one moment says how current an entry is. */
let moment = 0;

/** Counts changes. An entry is current if its look-up began after the last change of its key. */
export interface FactVersions extends CommitListener {
  isCurrent(key: number, readAt: number): boolean;
  /** Whether a commit is under way, so that a look-up may see the state before or after it. */
  isChanging(): boolean;
}

export function createFactVersions(): FactVersions {
  const changedAt = new Float64Array(SLOTS);
  let everythingAt = 0;
  let underWay = 0;

  function mark(keys: ChangedKeys): void {
    moment += 1;
    if (keys === 'all') everythingAt = moment;
    else for (const key of keys) changedAt[key % SLOTS] = moment;
  }

  return {
    isCurrent: (key, readAt) => readAt >= everythingAt && readAt >= (changedAt[key % SLOTS] as number),
    isChanging: () => underWay > 0,
    beforeCommit(keys) {
      underWay += 1;
      mark(keys);
    },
    // Marked again: a look-up that began during the commit may have seen the state before it.
    afterCommit(keys) {
      underWay -= 1;
      mark(keys);
    },
  };
}

/** Rows that facts are read from. */
export interface FactSource<Facts> {
  versions: FactVersions;
  /** The key under which changes of the rows are reported. */
  keyOf(facts: Facts): number;
}

export interface FactCache<Facts> {
  get(key: string): Facts | undefined;
  /** Looks the facts up, and keeps them if there are any and the key is worth it: see `Keeps`. */
  load(key: string, lookUp: () => Promise<Facts | null>): Promise<Facts | null>;
}

/**
 * Keys that were asked for lately. A table of this size recognizes those of 10,000 keys within a few calls each, but
 * hardly any of a million.
 */
const SEEN_SLOTS = 2 ** 14;

/**
 * Where each key is asked for once, keeping its facts would only cost memory and collections, and displace facts that
 * are in use. A collision in the table makes a key known too early or too late.
 * @returns whether this key was the last one seen in its place of the table
 */
function createAcquaintance(): (key: string) => boolean {
  const seen = new Uint32Array(SEEN_SLOTS);
  return (key) => {
    let hash = 0;
    for (let index = 0; index < key.length; index += 1)
      hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0;
    const slot = (hash ^ (hash >>> 16)) & (SEEN_SLOTS - 1);
    if (seen[slot] === hash) return true;
    seen[slot] = hash;
    return false;
  };
}

/** From which look-up of a key on its facts are kept. */
export type Keeps = 'from the first look-up' | 'from the second look-up';

/** A product has few of each. */
const MAX_TEXTS = 1000;

/** @returns the same string for equal texts: each row comes with new strings, which would take memory once for each entry */
function createTextPool(): (text: string) => string {
  const texts = recentMap<string, string>(MAX_TEXTS);
  return (text) => {
    const known = texts.get(text);
    if (known === undefined) texts.set(text, text);
    return known ?? text;
  };
}

interface FactCacheOptions<Facts> {
  sources: readonly FactSource<Facts>[];
  /** Maximum number of entries. */
  maxSize: number;
  keeps: Keeps;
  /** Names of texts that many entries have in common, such as the product. */
  commonTexts: readonly (keyof Facts)[];
}

export function createFactCache<Facts extends object>({
  sources,
  maxSize,
  keeps,
  commonTexts,
}: FactCacheOptions<Facts>): FactCache<Facts> {
  const pooled = createTextPool();
  const entries = recentMap<string, Entry<Facts>>(maxSize);
  const isKnown = keeps === 'from the first look-up' ? () => true : createAcquaintance();

  function isCurrent({ facts, readAt }: Entry<Facts>): boolean {
    for (const { versions, keyOf } of sources) if (!versions.isCurrent(keyOf(facts), readAt)) return false;
    return true;
  }

  return {
    get(key) {
      const entry = entries.get(key);
      return entry && isCurrent(entry) ? entry.facts : undefined;
    },
    async load(key, lookUp) {
      const readAt = moment;
      const facts = await lookUp();
      if (facts === null || !isKnown(key)) return facts;
      const entry = { facts, readAt };
      const isChanging = sources.some(({ versions }) => versions.isChanging());
      if (isChanging || !isCurrent(entry)) return facts;
      for (const name of commonTexts) {
        const text = facts[name];
        if (typeof text === 'string') facts[name] = pooled(text) as typeof text;
      }
      entries.set(key, entry);
      return facts;
    },
  };
}

/** Where other servers commit without notice, nothing is kept. */
export const NOTHING_KEPT: FactCache<never> = {
  get: () => undefined,
  load: (_key, lookUp) => lookUp(),
};
