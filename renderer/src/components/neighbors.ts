// The records before and after the open one, in the order of the list.
import { computed, type ComputedRef } from 'vue';
import type { KeysetList } from '../api/keyset-list.ts';

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
  return computed(() => {
    const items = list.items.value;
    const index = items.findIndex((item) => key(item) === openId());
    const to = (neighbor: Item | undefined) => (neighbor === undefined ? null : () => open(key(neighbor)));
    if (index < 0) return { previous: null, next: null };
    return { previous: to(items[index - 1]), next: to(items[index + 1]) };
  });
}
