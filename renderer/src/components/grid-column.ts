// Column definition of a `DataGrid`.
export interface GridColumn {
  /** Name of the cell slot, `cell-<id>`, and of the sort order. */
  id: string;
  label: string;
  /** A CSS grid track: `120px`, `minmax(160px, 2fr)`. */
  width: string;
  align?: 'end';
  mono?: true;
  sortable?: true;
  /** Sort direction of the first click; ascending by default. */
  firstOrder?: 'asc' | 'desc';
  /** Where it stands in the two-line rows of a narrow page; left out there unless given. `title` is the row's title. */
  narrow?: 'title' | 'side' | 'line';
  /** Where not all columns fit, the lowest priority is hidden first. Columns without one are always shown. */
  priority?: number;
  /** Shown only if it is chosen. */
  optional?: true;
  /** Its cell has a second line in comfortable rows. */
  twoLines?: true;
}

export interface CellProps<Item> {
  item: Item;
  /** Whether the row is hovered, open or the one that has the focus: what only then shows need not be rendered before. */
  isNear: boolean;
  /** Whether rows are high enough for a second line. */
  isTall: boolean;
}

/** What renders the cells, by `cell-` and the column's ID. */
export type GridCells<Item> = Readonly<
  Record<`cell-${string}`, ((props: CellProps<Item>) => unknown) | undefined>
>;

export interface GridSort {
  by: string;
  order: 'asc' | 'desc';
  /** The order that the list has unless another one is chosen. */
  isInitial?: boolean;
}
