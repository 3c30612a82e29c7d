// Splits the use of a pool into hours. Pure; all times are epoch milliseconds.
import { DAY_MS, HOUR_MS } from '#server/wire/instants.ts';
import type { UsageRow } from './lease-usage-store.ts';

/** Longer periods without a record, such as a clock that was set, are not counted. */
const MAX_METERED_MS = 31 * DAY_MS;
/** Usage since then is added when it is shown, so this only bounds what a crash of the clock could lose. */
const METER_EVERY_MS = HOUR_MS;

export function hourOf(at: number): number {
  return Math.floor(at / HOUR_MS) * HOUR_MS;
}

/** Wall times. A pool that was last metered outside of them is metered again. */
export interface MeterBounds {
  from: number;
  to: number;
}

/** @param now null while the clock is not trusted: it might meter days that have not passed */
export function meterBounds(now: number | null): MeterBounds {
  if (now === null) return { from: 0, to: Number.MAX_SAFE_INTEGER };
  return { from: now - METER_EVERY_MS, to: now + METER_EVERY_MS };
}

/**
 * Up to when a pool is metered now. After the clock was set back, what has been metered is not metered again, at most
 * to the end of the hour. While the clock is not trusted, `now` may be too early, so nothing is taken back.
 */
export function meteredUntil(before: number, now: number, isTrusted: boolean): number {
  return isTrusted && before > meterBounds(now).to ? hourOf(now) + HOUR_MS : Math.max(before, now);
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
