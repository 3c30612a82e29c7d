// What a `DataGrid` is told of its columns.
export interface GridColumn {
  /** Names the slot of its cells, `cell-<id>`, and the order to sort by. */
  id: string;
  label: string;
  /** A CSS grid track: `120px`, `minmax(160px, 2fr)`. */
  width: string;
  align?: 'end';
  mono?: true;
  sortable?: true;
  /** What the first click on its head sorts to; ascending unless given. */
  firstOrder?: 'asc' | 'desc';
  /** Where it stands in the two-line rows of a narrow page; left out there unless given. */
  narrow?: 'title' | 'side' | 'line';
}

export interface GridSort {
  by: string;
  order: 'asc' | 'desc';
}
