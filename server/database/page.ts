// Keyset paging, newest first: the cursor is the id that the last page ended with.
import { ApiError } from '#server/wire/errors.ts';

/** @throws ApiError `invalid_request` for a cursor that no page gave out */
export function idFromCursor(cursor: string | undefined): number | null {
  if (cursor === undefined) return null;
  const id = Number(cursor);
  if (!/^\d{1,15}$/u.test(cursor))
    throw new ApiError('invalid_request', 'cursor: is none that a page gave out');
  return id;
}

/**
 * @param rows one more than `limit`, if there are that many
 * @param cursorOf what the next page is asked for with, given the last row of this one
 */
export function toPage<Row extends { id: number }, Item>(
  rows: Row[],
  limit: number,
  present: (row: Row) => Item,
  cursorOf: (row: Row) => string = ({ id }) => String(id),
) {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  return {
    items: page.map((row) => present(row)),
    next_cursor: rows.length > limit && last ? cursorOf(last) : null,
  };
}
