// A position in a list of licenses: the sort order and the last license of the page.
import { cursorOf, malformedCursor, NUMBER, oneOf, OPTIONAL_MOMENT } from '#server/database/cursor.ts';
import type { LicensePosition, LicenseSequence } from './license-finder-store.ts';

const CURSOR = cursorOf({
  sort: oneOf('created', 'expires', 'holder'),
  order: oneOf('asc', 'desc'),
  id: NUMBER,
  expiresAt: OPTIONAL_MOMENT,
});

export function toCursor(sequence: LicenseSequence, last: { id: number; expiresAt: number }): string {
  const expiresAt = sequence.sort === 'expires' ? last.expiresAt : undefined;
  return CURSOR.write({ ...sequence, id: last.id, expiresAt });
}

/** @throws ApiError `invalid_request` for a cursor that no page with this order returned */
export function fromCursor(
  cursor: string | undefined,
  { sort, order }: LicenseSequence,
): LicensePosition | null {
  const position = CURSOR.read(cursor);
  if (position === null) return null;
  const { id, expiresAt } = position;
  if ((position.sort === 'expires') !== (expiresAt !== undefined)) throw malformedCursor();
  if (position.sort !== sort || position.order !== order)
    throw malformedCursor('does not match the requested sort order; start from the first page');
  return { id, expiresAt };
}
