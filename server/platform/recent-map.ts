// A map of limited size that keeps the most recently used entries.

export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
}

/**
 * Uses two generations instead of a list in order of use: the older half is dropped in one step, so that no call has to
 * clean up, however many keys a hostile caller sends.
 * @param maxSize maximum number of entries
 */
export function recentMap<Key, Value>(maxSize: number): RecentMap<Key, Value> {
  let current = new Map<Key, Value>();
  let previous = new Map<Key, Value>();

  function set(key: Key, value: Value): void {
    if (current.size >= maxSize / 2) [previous, current] = [current, new Map()];
    current.set(key, value);
  }

  return {
    get(key) {
      const value = current.get(key);
      if (value !== undefined) return value;
      const older = previous.get(key);
      if (older !== undefined) set(key, older);
      return older;
    },
    set,
  };
}
