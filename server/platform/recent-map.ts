// A map of bounded size that keeps what was used most recently.

export interface RecentMap<Key, Value> {
  get(key: Key): Value | undefined;
  set(key: Key, value: Value): void;
}

/**
 * Two generations instead of one list in order of use: the older half is dropped at once, so no call ever pays for a
 * clean-up, however many keys a hostile caller sends.
 * @param maxSize entries kept at most
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
