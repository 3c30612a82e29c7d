// How a list is shown: which columns, how high its rows are. Kept in the browser for each list.
import { computed, inject, type InjectionKey, provide, type Ref, ref, shallowRef } from 'vue';
import type { GridColumn, GridSort } from './grid-column.ts';

/** Comfortable rows have a second line. */
export const DENSITIES = ['comfortable', 'standard', 'compact'] as const;
export type Density = (typeof DENSITIES)[number];

/** The same as `--row-comfortable`, `--row` and `--row-compact`. */
export const ROW_PX: Readonly<Record<Density, number>> = { comfortable: 52, standard: 36, compact: 32 };

/** Comfortable rows are offered where a column has a second line for them. */
export const densitiesOf = (columns: readonly GridColumn[]): readonly Density[] =>
  DENSITIES.filter((name) => name !== 'comfortable' || columns.some(({ twoLines }) => twoLines === true));

/** @returns the chosen density, or the initial one if the list does not offer it */
export const densityOf = (columns: readonly GridColumn[], { density }: ListView): Density =>
  densitiesOf(columns).includes(density) ? density : INITIAL.density;

export interface ListView {
  density: Density;
  /** By the column's ID; only columns that were chosen or hidden. */
  columns: Readonly<Record<string, boolean>>;
}

const INITIAL: ListView = { density: 'standard', columns: {} };

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** @returns the view, or the initial one in place of what this version does not know */
export function parseListView(text: string | null): ListView {
  let stored: unknown;
  try {
    stored = JSON.parse(text ?? '');
  } catch {
    return INITIAL;
  }
  if (!isRecord(stored)) return INITIAL;
  const columns = Object.entries(isRecord(stored['columns']) ? stored['columns'] : {});
  return {
    density: DENSITIES.find((name) => name === stored['density']) ?? INITIAL.density,
    columns: Object.fromEntries(
      columns.filter((entry): entry is [string, boolean] => entry[1] === true || entry[1] === false),
    ),
  };
}

/** The column that titles a row. It is always shown. */
export const isTitleColumn = ({ narrow }: GridColumn): boolean => narrow === 'title';

export function isChosen(column: GridColumn, { columns }: ListView): boolean {
  return isTitleColumn(column) || (columns[column.id] ?? column.optional !== true);
}

/** The space that a column needs, in pixels. */
export function minWidth({ width }: GridColumn): number {
  return Number(/(\d+)px/u.exec(width)?.[1] ?? 0);
}

/** @returns the columns that there is room for, in their order */
export function fittingColumns(columns: readonly GridColumn[], room: number): readonly GridColumn[] {
  const byPriority = columns
    .filter((column) => column.priority !== undefined && !isTitleColumn(column))
    .toSorted((a, b) => (a.priority ?? 0) - (b.priority ?? 0));
  let needed = columns.reduce((sum, column) => sum + minWidth(column), 0);
  const left = new Set<GridColumn>();
  for (const column of byPriority) {
    if (needed <= room) break;
    left.add(column);
    needed -= minWidth(column);
  }
  return columns.filter((column) => !left.has(column));
}

const storedAs = (name: string) => `license-desk-list-${name}`;
const views = new Map<string, Ref<ListView>>();

function viewOf(name: string): Ref<ListView> {
  const known = views.get(name) ?? ref(parseListView(localStorage.getItem(storedAs(name))));
  views.set(name, known);
  return known;
}

/** @param name of the list, for the browser's storage */
export function useListView(name: () => string) {
  const view = computed(() => viewOf(name()).value);

  function set(changes: Partial<ListView>): void {
    const changed = { ...view.value, ...changes };
    viewOf(name()).value = changed;
    localStorage.setItem(storedAs(name()), JSON.stringify(changed));
  }

  return {
    view,
    show: (id: string, isShown: boolean) => set({ columns: { ...view.value.columns, [id]: isShown } }),
    setDensity: (density: Density) => set({ density }),
    reset(): void {
      viewOf(name()).value = INITIAL;
      localStorage.removeItem(storedAs(name()));
    },
  };
}

/** The table of a list, as the menu beside the list needs it. */
export interface ShownList {
  name: string;
  columns: readonly GridColumn[];
  /** Chosen columns that do not fit. */
  withoutRoom: ReadonlySet<string>;
  /** The chosen order, if its column is not chosen or the page is too narrow for headings. */
  hiddenSort: { label: string; order: GridSort['order'] } | null;
}

const SHOWN_LIST: InjectionKey<Ref<ShownList | null>> = Symbol('shown list');

/** For what surrounds a table. @returns the table, as soon as there is one */
export function provideShownList(): Readonly<Ref<ShownList | null>> {
  const list = shallowRef<ShownList | null>(null);
  provide(SHOWN_LIST, list);
  return list;
}

/** For the table. */
export const useShownList = (): Ref<ShownList | null> => inject(SHOWN_LIST, () => shallowRef(null), true);
