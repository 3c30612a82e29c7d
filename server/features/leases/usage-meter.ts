// Splits the use of a pool into hours. Pure; all times are epoch milliseconds.
import type { UsageRow } from './lease-usage-store.ts';

export const HOUR_MS = 3_600_000;
/** Longer periods without a record, such as a clock that was set, are not counted. */
const MAX_METERED_MS = 31 * 24 * HOUR_MS;

export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
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
