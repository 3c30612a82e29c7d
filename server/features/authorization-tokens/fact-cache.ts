// Keeps the facts behind frequent answers in memory for as long as no commit changes them. Exact only where this process
// alone writes the database.
import type { ChangedKeys, CommitListener } from '#server/database/changed-rows.ts';
import { recentMap } from '#server/platform/recent-map.ts';

/** License IDs share this many slots. A collision only costs a look-up. */
const SLOTS = 2 ** 16;

export interface CachedFacts {
  licenseId: number;
}

interface Entry<Facts> {
  facts: Facts;
  /** Its look-up began at this moment. */
  readAt: number;
}

/** Counts changes. An entry is current if its look-up began after the last change of its license. */
export interface FactVersions extends CommitListener {
  /** The current moment. */
  now(): number;
  isCurrent(licenseId: number, readAt: number): boolean;
  /** Whether a commit is under way, so that a look-up may see the state before or after it. */
  isChanging(): boolean;
}

export function createFactVersions(): FactVersions {
  const changedAt = new Float64Array(SLOTS);
  let everythingAt = 0;
  let moment = 0;
  let underWay = 0;

  function mark(keys: ChangedKeys): void {
    moment += 1;
    if (keys === 'all') everythingAt = moment;
    else for (const key of keys) changedAt[key % SLOTS] = moment;
  }

  return {
    now: () => moment,
    isCurrent: (licenseId, readAt) =>
      readAt >= everythingAt && readAt >= (changedAt[licenseId % SLOTS] as number),
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

export interface FactCache<Facts> {
  get(key: string): Facts | undefined;
  /** Looks the facts up, and keeps them if there are any. */
  load(key: string, lookUp: () => Promise<Facts | null>): Promise<Facts | null>;
}

/** @param maxSize maximum number of entries */
export function createFactCache<Facts extends CachedFacts>(
  versions: FactVersions,
  maxSize: number,
): FactCache<Facts> {
  const entries = recentMap<string, Entry<Facts>>(maxSize);
  return {
    get(key) {
      const entry = entries.get(key);
      return entry && versions.isCurrent(entry.facts.licenseId, entry.readAt) ? entry.facts : undefined;
    },
    async load(key, lookUp) {
      const readAt = versions.now();
      const facts = await lookUp();
      if (facts && !versions.isChanging() && versions.isCurrent(facts.licenseId, readAt))
        entries.set(key, { facts, readAt });
      return facts;
    },
  };
}
