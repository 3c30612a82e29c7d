// Keeps what was read, by key, until somebody says that what it was read from has changed.
import { LRUCache } from 'lru-cache';

export interface TaggedCache<Value extends object> {
  /** The kept value, or what `load` finds; nothing is kept of a key that is not there. */
  read(key: string): Value | null | Promise<Value | null>;
  /** Drops everything with this tag, and whatever is being loaded now and turns out to have it. */
  drop(tag: number): void;
  dropAll(): void;
}

interface Options<Value> {
  /** How many values are kept; 0 keeps none. */
  max: number;
  tagOf(value: Value): number;
  load(key: string): Promise<Value | null>;
}

export function createTaggedCache<Value extends object>({
  max,
  tagOf,
  load,
}: Options<Value>): TaggedCache<Value> {
  if (max === 0) return { read: load, drop: () => {}, dropAll: () => {} };

  const keysByTag = new Map<number, string[]>();
  const values = new LRUCache<string, Value>({
    max,
    dispose(value, key) {
      const tag = tagOf(value);
      const left = keysByTag.get(tag)?.filter((other) => other !== key) ?? [];
      if (left.length === 0) keysByTag.delete(tag);
      else keysByTag.set(tag, left);
    },
  });
  // A load that began before a drop may have read the old state, so it must not be kept.
  let loading = 0;
  let drops = 0;
  let allDroppedAt = 0;
  const droppedAt = new Map<number, number>();

  const keep = (key: string, value: Value, startedAt: number): void => {
    const tag = tagOf(value);
    if (allDroppedAt > startedAt || (droppedAt.get(tag) ?? 0) > startedAt || values.has(key)) return;
    values.set(key, value);
    keysByTag.set(tag, [...(keysByTag.get(tag) ?? []), key]);
  };

  const readThrough = async (key: string): Promise<Value | null> => {
    const startedAt = drops;
    loading += 1;
    try {
      const value = await load(key);
      if (value) keep(key, value, startedAt);
      return value;
    } finally {
      loading -= 1;
      if (loading === 0) droppedAt.clear();
    }
  };

  return {
    read: (key) => values.get(key) ?? readThrough(key),
    drop(tag) {
      drops += 1;
      if (loading > 0) droppedAt.set(tag, drops);
      for (const key of keysByTag.get(tag) ?? []) values.delete(key);
    },
    dropAll() {
      drops += 1;
      allDroppedAt = drops;
      values.clear();
    },
  };
}
