// The parts of the page's kit that need no browser: selection, neighbors and toasts.
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { computed, ref } from 'vue';
import type { KeysetList } from '../../renderer/src/api/keyset-list.ts';
import { useGridSelection } from '../../renderer/src/components/grid-selection.ts';
import { useNeighbors } from '../../renderer/src/components/neighbors.ts';
import {
  dismissToast,
  holdToast,
  releaseToast,
  showToast,
  toasts,
} from '../../renderer/src/components/toasts.ts';

const ITEMS = [11, 22, 33, 44, 55];

describe('the selection of a grid', () => {
  function grid(items: () => readonly number[] = () => ITEMS) {
    const selected = ref<ReadonlySet<string | number>>(new Set());
    const selection = useGridSelection<number>({
      items,
      rowKey: (item) => item,
      selected: () => selected.value,
      select: (keys) => (selected.value = keys),
    });
    return { ...selection, keys: () => [...selected.value] };
  }

  it('toggles one row', () => {
    const { toggle, keys } = grid();
    toggle(1, false);
    expect(keys()).toEqual([22]);
    toggle(1, false);
    expect(keys()).toEqual([]);
  });

  it.each([
    [1, 3, [22, 33, 44]],
    [3, 1, [44, 22, 33]],
    [2, 2, []],
  ])('extends from row %d to row %d', (from, to, expected) => {
    const { toggle, keys } = grid();
    toggle(from, false);
    toggle(to, true);
    expect(keys()).toEqual(expected);
  });

  it('clears a range, if the last row of it was selected', () => {
    const { toggle, toggleAll, keys } = grid();
    toggleAll();
    toggle(1, false);
    toggle(3, true);
    expect(keys()).toEqual([11, 55]);
  });

  it('begins a range at the row itself before any other was toggled', () => {
    const { toggle, keys } = grid();
    toggle(4, true);
    expect(keys()).toEqual([55]);
  });

  it('begins a range at the row that was toggled, wherever it is now', () => {
    const items = ref(ITEMS);
    const { toggle, keys } = grid(() => items.value);
    toggle(2, false);
    items.value = [1, ...ITEMS];
    toggle(5, true);
    expect(keys()).toEqual([33, 44, 55]);
  });

  it('begins a range at the row itself if the one that was toggled is gone', () => {
    const items = ref(ITEMS);
    const { toggle, keys } = grid(() => items.value);
    toggle(1, false);
    items.value = ITEMS.filter((item) => item !== 22);
    toggle(3, true);
    expect(keys()).toEqual([22, 55]);
  });

  it('selects all rows and clears them', () => {
    const { toggleAll, allSelected, keys } = grid();
    expect(allSelected.value).toBe(false);
    toggleAll();
    expect(keys()).toEqual(ITEMS);
    expect(allSelected.value).toBe(true);
    toggleAll();
    expect(keys()).toEqual([]);
  });
});

describe('the neighbors of the open record', () => {
  const listOf = (more: Pick<KeysetList<number>, 'hasMore' | 'loadAhead'>) =>
    ({ items: computed(() => ITEMS), ...more }) as unknown as KeysetList<number>;

  function around(id: number | null) {
    const opened: number[] = [];
    const list = listOf({ hasMore: computed(() => false), loadAhead: () => expect.unreachable() });
    const { value } = useNeighbors({
      list,
      key: (item) => item,
      openId: () => id,
      open: (next) => opened.push(next),
    });
    value.previous?.();
    value.next?.();
    return opened;
  }

  it.each([
    ['in the middle', 33, [22, 44]],
    ['at the beginning', 11, [22]],
    ['at the end', 55, [44]],
    ['outside the list', 99, []],
    ['if none is open', null, []],
  ])('%s', (_place, id, expected) => {
    expect(around(id)).toEqual(expected);
  });

  it('are loaded before the open record is the last one', () => {
    const loadAhead = vi.fn<() => void>();
    const list = listOf({ hasMore: computed(() => true), loadAhead });
    useNeighbors({ list, key: (item) => item, openId: () => 44, open: () => {} });
    expect(loadAhead).toHaveBeenCalledOnce();
  });
});

describe('toasts', () => {
  const texts = () => toasts.value.map(({ text }) => text);

  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => {
    vi.runAllTimers();
    vi.useRealTimers();
  });

  it('go after 6 seconds, with Undo after 10', () => {
    showToast('Renewed');
    showToast('Released', { undo: () => {} });
    vi.advanceTimersByTime(5999);
    expect(texts()).toEqual(['Renewed', 'Released']);
    vi.advanceTimersByTime(1);
    expect(texts()).toEqual(['Released']);
    vi.advanceTimersByTime(4000);
    expect(texts()).toEqual([]);
  });

  it('stay under the pointer, and go after it has left', () => {
    showToast('Renewed');
    const [{ id } = { id: 0 }] = toasts.value;
    holdToast(id);
    vi.advanceTimersByTime(60_000);
    expect(texts()).toEqual(['Renewed']);
    releaseToast(id);
    vi.advanceTimersByTime(6000);
    expect(texts()).toEqual([]);
  });

  it('show the latest three, and none that was dismissed', () => {
    for (const text of ['1', '2', '3', '4']) showToast(text);
    expect(texts()).toEqual(['2', '3', '4']);
    dismissToast(toasts.value[1]?.id ?? 0);
    expect(texts()).toEqual(['2', '4']);
  });
});
