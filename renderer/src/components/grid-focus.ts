// Tracks the focused row of a `DataGrid`, even when that row is not rendered.
import { nextTick, type Ref, ref, watch } from 'vue';

const PAGE_ROWS = 20;

interface Needs {
  viewport: Readonly<Ref<HTMLElement | null>>;
  /** Changes whenever rendered rows change. */
  rows: Readonly<Ref<unknown>>;
  count: () => number;
  scrollTo: (index: number) => void;
}

export function useGridFocus({ viewport, rows, count, scrollTo }: Needs) {
  const current = ref(0);
  /** The row to focus as soon as it is rendered, which may be after scrolling. */
  let wanted: number | null = null;

  const within = (index: number) => Math.max(0, Math.min(index, count() - 1));
  watch(count, () => {
    current.value = within(current.value);
  });

  function focusWanted(): void {
    const row = wanted === null ? null : viewport.value?.querySelector(`[data-index="${wanted}"]`);
    if (!(row instanceof HTMLElement)) return;
    row.focus({ preventScroll: true });
    wanted = null;
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
    current.value = within(index);
    wanted = current.value;
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
    End: () => count() - 1,
  };

  return {
    /** Index of the row that Tab reaches. */
    current,
    moveTo,
    /** @returns whether the key moved the focus */
    moveBy(key: string): boolean {
      const target = targets[key];
      if (target) void moveTo(target());
      return target !== undefined;
    },
  };
}
