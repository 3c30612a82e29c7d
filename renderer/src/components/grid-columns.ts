// Which columns of a `DataGrid` are shown: those that are chosen, as far as there is room, or those of two-line rows.
import { computed, type Ref, watchEffect } from 'vue';
import { isPrinting } from '../printing.ts';
import type { GridColumn, GridSort } from './grid-column.ts';
import { densityOf, fittingColumns, isChosen, ROW_PX, useListView, useShownList } from './list-view.ts';

/** The height of two-line rows on a narrow page. */
const NARROW_ROW_PX = 64;
/** The checkboxes' column: the page's padding and 28 px. */
const BOX_PX = 60;
/** The room on A4, for columns as wide as on the screen. Type and columns are smaller there. */
const PAPER_PX = 940;

interface Needs {
  /** The list whose choices apply. */
  name: () => string;
  columns: () => readonly GridColumn[];
  isNarrow: Readonly<Ref<boolean>>;
  hasBoxes: () => boolean;
  sort: () => GridSort | undefined;
  /** Of the grid in pixels; 0 before it is known. */
  width: Readonly<Ref<number>>;
}

export function useGridColumns({ name, columns, isNarrow, hasBoxes, sort, width }: Needs) {
  const { view } = useListView(name);
  const chosen = computed(() => columns().filter((column) => isChosen(column, view.value)));
  const fitting = computed(() => {
    if (isPrinting.value) return fittingColumns(chosen.value, PAPER_PX);
    if (width.value === 0) return chosen.value;
    return fittingColumns(chosen.value, width.value - (hasBoxes() ? BOX_PX : 0));
  });
  const density = computed(() => densityOf(columns(), view.value));
  const hiddenSort = computed(() => {
    const { by, order, isInitial = false } = sort() ?? { by: null, order: 'asc', isInitial: true };
    // Not what fits: beside an open record there is less room, and a chip that came then would move the list.
    const hasHeading = !isNarrow.value && chosen.value.some(({ id }) => id === by);
    const column = columns().find(({ id }) => id === by);
    return column && !isInitial && !hasHeading ? { label: column.label, order } : null;
  });
  const list = useShownList();
  watchEffect(() => {
    const left = chosen.value.filter((column) => !fitting.value.includes(column)).map(({ id }) => id);
    list.value = {
      name: name(),
      columns: columns(),
      withoutRoom: new Set(left),
      hiddenSort: hiddenSort.value,
    };
  });

  return {
    isTall: computed(() => !isNarrow.value && density.value === 'comfortable'),
    shown: computed(() =>
      isNarrow.value ? columns().filter(({ narrow }) => narrow !== undefined) : fitting.value,
    ),
    /** For `grid-template-columns`; undefined on a narrow page. */
    tracks: computed(() => {
      if (isNarrow.value) return undefined;
      const widths = fitting.value.map(({ width: track }) => track);
      return [...(hasBoxes() ? ['calc(var(--page) + 28px)'] : []), ...widths].join(' ');
    }),
    rowPx: computed((before?: number) => {
      // On paper rows are as high as their text. The list keeps its place on the screen.
      if (isPrinting.value && before !== undefined) return before;
      return isNarrow.value ? NARROW_ROW_PX : ROW_PX[density.value];
    }),
  };
}
