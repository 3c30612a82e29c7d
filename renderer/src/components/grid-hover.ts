// Tracks the row of a `DataGrid` that the pointer rests on.
import { onScopeDispose, ref } from 'vue';

/** While the list scrolls, rows pass the pointer faster than this. Rendering each for it would delay frames. */
const HOVER_MS = 50;

export function useGridHover() {
  const hovered = ref<number | null>(null);
  let pointed: number | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function point(index: number | null): void {
    if (index === pointed) return;
    pointed = index;
    hovered.value = null;
    clearTimeout(timer);
    if (index !== null) timer = setTimeout(() => (hovered.value = index), HOVER_MS);
  }
  onScopeDispose(() => clearTimeout(timer));

  return {
    /** Index of the row. */
    hovered,
    /** @param index of the row that the pointer is over now */
    point,
  };
}
