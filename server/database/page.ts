// Keyset paging: each page ends with a cursor from which the next one continues.
import { cursorOf, NUMBER } from './cursor.ts';

/** Most lists are newest first, so the cursor is the last ID of the page. */
const ID_CURSOR = cursorOf({ id: NUMBER });

/** @throws ApiError `invalid_request` for a cursor that no page returned */
export function idFromCursor(cursor: string | undefined): number | null {
  return ID_CURSOR.read(cursor)?.id ?? null;
}

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

/**
 * @param rows up to `limit` + 1 rows, as stores list them; the extra one shows that there is another page
 * @param toCursor makes the next page's cursor from the last row; required for rows without an ID
 */
export function toPage<Row extends { id: number }, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
): Page<Item>;
export function toPage<Row, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  toCursor: (row: Row) => string,
): Page<Item>;
export function toPage<Row extends { id: number }, Item>(
  rows: readonly Row[],
  limit: number,
  present: (row: Row) => Item,
  toCursor: (row: Row) => string = ID_CURSOR.write,
): Page<Item> {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map((row) => present(row)),
    next_cursor: rows.length > limit && last ? toCursor(last) : null,
  };
}
