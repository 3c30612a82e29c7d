// Tracks the focused row of a `DataGrid`, even when that row is not rendered.
import { nextTick, type Ref, ref, shallowReadonly, watch } from 'vue';

const PAGE_ROWS = 20;

interface Needs<Item> {
  viewport: Readonly<Ref<HTMLElement | null>>;
  /** Changes whenever rendered rows change. */
  rows: Readonly<Ref<unknown>>;
  items: () => readonly Item[];
  rowKey: (item: Item) => string | number;
  scrollTo: (index: number) => void;
}

export function useGridFocus<Item>({ viewport, rows, items, rowKey, scrollTo }: Needs<Item>) {
  const current = ref(0);
  /** Of the row that the user chose last. Its index changes when rows come or go above it. */
  let currentKey: string | number | undefined;
  /** The current row takes the focus as soon as it is rendered, which may be after scrolling. */
  let takesFocus = false;

  const within = (index: number) => Math.max(0, Math.min(index, items().length - 1));
  function keyAt(index: number): string | number | undefined {
    const item = items()[index];
    return item === undefined ? undefined : rowKey(item);
  }
  watch(items, () => {
    const isMoved = keyAt(current.value) !== currentKey;
    const index = isMoved ? items().findIndex((item) => rowKey(item) === currentKey) : current.value;
    current.value = within(index === -1 ? current.value : index);
  });

  function setCurrent(index: number): void {
    current.value = within(index);
    currentKey = keyAt(current.value);
  }

  function focusWanted(): void {
    const row = takesFocus ? viewport.value?.querySelector(`[data-index="${current.value}"]`) : null;
    if (!(row instanceof HTMLElement)) return;
    row.focus({ preventScroll: true });
    takesFocus = false;
  }
  /** Has the focus before the rows change. */
  let holder: HTMLElement | null = null;
  watch(rows, () => {
    const { activeElement: active } = document;
    holder = active instanceof HTMLElement && viewport.value?.contains(active) === true ? active : null;
  });
  watch(
    rows,
    () => {
      // An element that is moved in the document loses the focus.
      if (holder?.isConnected === true && document.activeElement === document.body)
        holder.focus({ preventScroll: true });
      focusWanted();
    },
    { flush: 'post' },
  );

  async function moveTo(index: number): Promise<void> {
    setCurrent(index);
    takesFocus = true;
    scrollTo(current.value);
    await nextTick();
    focusWanted();
  }

  const targets: Record<string, () => number> = {
    ArrowDown: () => current.value + 1,
    ArrowUp: () => current.value - 1,
    PageDown: () => current.value + PAGE_ROWS,
    PageUp: () => current.value - PAGE_ROWS,
    Home: () => 0,
    End: () => items().length - 1,
  };

  return {
    /** Index of the row that Tab reaches. */
    current: shallowReadonly(current),
    setCurrent,
    /** For other rows. */
    startOver(): void {
      current.value = 0;
      currentKey = undefined;
    },
    moveTo,
    /** @returns whether the key moved the focus */
    moveBy(key: string): boolean {
      const target = targets[key];
      if (target) void moveTo(target());
      return target !== undefined;
    },
  };
}
