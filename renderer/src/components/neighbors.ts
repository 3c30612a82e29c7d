// The records before and after the open one, in the order of the list.
import { computed, type ComputedRef, watch } from 'vue';
import type { KeysetList } from '../api/keyset-list.ts';

/** The distance from the last loaded record at which more are requested. */
const MORE_AT = 12;

export interface Neighbors {
  previous: (() => void) | null;
  next: (() => void) | null;
}

interface Needs<Item> {
  list: KeysetList<Item>;
  key: (item: Item) => number;
  openId: () => number | null;
  open: (id: number) => void;
}

export function useNeighbors<Item>({ list, key, openId, open }: Needs<Item>): ComputedRef<Neighbors> {
  const index = computed(() => list.items.value.findIndex((item) => key(item) === openId()));
  watch(
    () => index.value >= 0 && list.hasMore.value && index.value >= list.items.value.length - MORE_AT,
    (isNearEnd) => {
      if (isNearEnd) list.loadAhead();
    },
    { immediate: true },
  );
  return computed(() => {
    const items = list.items.value;
    const to = (neighbor: Item | undefined) => (neighbor === undefined ? null : () => open(key(neighbor)));
    if (index.value < 0) return { previous: null, next: null };
    return { previous: to(items[index.value - 1]), next: to(items[index.value + 1]) };
  });
}
