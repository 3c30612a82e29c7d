// Times without schemas, which the back office uses too.

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 86_400_000;

/** @param day number of UTC days since 1970 @returns its date, such as `2026-11-20` */
export function isoDay(day: number): string {
  return new Date(day * DAY_MS).toISOString().slice(0, 10);
}

/** @param day such as `2026-11-20` @returns its last moment: what is valid until then is shown to end on this day */
export function endOfUtcDay(day: string): string {
  return `${day}T23:59:59.999Z`;
}

/** The latest time with a four-digit year; some people enter it for "never". Epoch milliseconds. */
export const LAST_MOMENT = Date.UTC(10_000, 0, 1) - 1;

/** @returns the first moment of the next day, and the last moment of the calendar for its last day */
export function momentAfterDay(day: string): string {
  return new Date(Math.min(Date.parse(day) + DAY_MS, LAST_MOMENT)).toISOString();
}
