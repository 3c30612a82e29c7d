// The pool of a license while its seats are taken and freed.
import type { License } from '#server/rules/license.ts';
import type { PoolRow } from './pool-store.ts';

/** A pool, locked by the current transaction. */
export interface OpenPool {
  readonly license: License;
  /** Seats that leases can hold in total; null if unlimited. */
  readonly limit: number | null;
  row: PoolRow;
}

/** Whether so many seats are free. */
export function fits({ limit, row }: OpenPool, units: number): boolean {
  return limit === null || row.inUse + units <= limit;
}

/** Whether the license has as many seats at all. */
export function isWithinLimit({ limit }: OpenPool, units: number): boolean {
  return limit === null || units <= limit;
}

/** Seats that leases hold beyond the limit, after it was lowered. */
export function excessSeats({ limit, row }: OpenPool): number {
  return limit === null ? 0 : Math.max(0, row.inUse - limit);
}
