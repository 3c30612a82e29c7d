// Splits the use of a pool into hours. Pure; all times are epoch milliseconds.
import type { UsageRow } from './lease-usage-store.ts';

export const HOUR_MS = 3_600_000;
/** Longer periods without a record, such as a clock that was set, are not counted. */
const MAX_METERED_MS = 31 * 24 * HOUR_MS;

export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/**
 * Seats that are wanted at once. @param wanted units for each seat that clients wait for, in addition to those in use
 * @param refused the same for clients that were refused
 */
export function neededSeats(
  inUse: number,
  wanted: ReadonlyMap<string, number>,
  refused: ReadonlyMap<string, number> = new Map(),
): number {
  let needed = inUse;
  for (const units of wanted.values()) needed += units;
  // A client that is refused a seat may share it with one that waits for it.
  for (const [seatKey, units] of refused) needed += Math.max(0, units - (wanted.get(seatKey) ?? 0));
  return needed;
}

/** The hours between two times in which `inUse` seats were in use. */
export function meteredHours(licenseId: number, inUse: number, from: number, to: number): UsageRow[] {
  if (inUse === 0 || to <= from || to - from > MAX_METERED_MS) return [];
  const hours: UsageRow[] = [];
  for (let hour = hourOf(from); hour < to; hour += HOUR_MS) {
    const ms = Math.min(to, hour + HOUR_MS) - Math.max(from, hour);
    hours.push({ licenseId, hour, peak: inUse, needed: 0, seatMs: inUse * ms, denied: 0, queued: 0 });
  }
  return hours;
}
