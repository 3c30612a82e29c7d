// Where a page of licenses ended: the order it was in, and the license that it ended with.
import { ApiError } from '#server/wire/errors.ts';
import type { LicensePosition, LicenseSequence } from './license-finder-store.ts';

const SHAPE = /^(created|expires|holder)\.(asc|desc)\.(\d{1,15})(?:\.(-?\d{1,16}))?$/u;

export function toCursor({ sort, order }: LicenseSequence, last: { id: number; expiresAt: number }): string {
  const fields = [sort, order, last.id, ...(sort === 'expires' ? [last.expiresAt] : [])];
  return Buffer.from(fields.join('.')).toString('base64url');
}

/** @throws ApiError `invalid_request` for a cursor that no page of this order gave out */
export function fromCursor(
  cursor: string | undefined,
  { sort, order }: LicenseSequence,
): LicensePosition | null {
  if (cursor === undefined) return null;
  const [, itsSort, itsOrder, id, expiresAt] = SHAPE.exec(Buffer.from(cursor, 'base64url').toString()) ?? [];
  if (id === undefined || (itsSort === 'expires') !== (expiresAt !== undefined))
    throw new ApiError('invalid_request', 'cursor: is none that a page gave out');
  if (itsSort !== sort || itsOrder !== order)
    throw new ApiError('invalid_request', 'cursor: is of another order than the one asked for');
  return { id: Number(id), expiresAt: expiresAt === undefined ? undefined : Number(expiresAt) };
}
