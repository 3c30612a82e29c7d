// Keyset paging: a page ends with a cursor, from behind which the next one goes on.
import { cursorOf, NUMBER } from './cursor.ts';

/** Most lists are newest first: the cursor is the id that the last page ended with. */
const ID_CURSOR = cursorOf({ id: NUMBER });

/** @throws ApiError `invalid_request` for a cursor that no page gave out */
export function idFromCursor(cursor: string | undefined): number | null {
  return ID_CURSOR.read(cursor)?.id ?? null;
}

interface Page<Item> {
  items: Item[];
  next_cursor: string | null;
}

/**
 * @param rows one more than `limit`, if there are that many
 * @param toCursor what the next page is asked for with, given the last row of this one; of rows without an id there is no other
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
