// Which rows of a `DataGrid` are selected: one by one, a range with Shift, or all that are loaded.
import { computed } from 'vue';

type Key = string | number;
type Keys = ReadonlySet<Key>;

interface Needs<Item> {
  items: () => readonly Item[];
  rowKey: (item: Item) => Key;
  /** Undefined where rows cannot be selected. */
  selected: () => Keys | undefined;
  select: (keys: Keys) => void;
}

export function useGridSelection<Item>({ items, rowKey, selected, select }: Needs<Item>) {
  /** Where a range begins: the row that was toggled last. Its index changes when rows come or go above it. */
  let anchor: Key | null = null;

  const allSelected = computed(
    () => items().length > 0 && items().every((item) => selected()?.has(rowKey(item))),
  );

  /** @param extend selects or clears everything from the last toggled row up to this one */
  function toggle(index: number, extend: boolean): void {
    const current = selected();
    const item = items()[index];
    if (!current || item === undefined) return;
    const keys = new Set(current);
    const adds = !keys.has(rowKey(item));
    const begin = extend ? items().findIndex((member) => rowKey(member) === anchor) : -1;
    const from = begin === -1 ? index : begin;
    for (const member of items().slice(Math.min(from, index), Math.max(from, index) + 1)) {
      if (adds) keys.add(rowKey(member));
      else keys.delete(rowKey(member));
    }
    anchor = rowKey(item);
    select(keys);
  }

  function toggleAll(): void {
    select(new Set(allSelected.value ? [] : items().map((item) => rowKey(item))));
  }

  /** For other rows. */
  function forgetRange(): void {
    anchor = null;
  }

  return { allSelected, toggle, toggleAll, forgetRange };
}
