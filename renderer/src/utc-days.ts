// Days as the server counts them: from midnight to midnight UTC, written `2026-11-20`.
import { DAY_MS } from '#server/wire/instants.ts';

export interface DayCount {
  day: string;
  count: number;
}

/** @param now epoch milliseconds */
export function utcDay(now: number): string {
  return new Date(now).toISOString().slice(0, 10);
}

export function startOfUtcDay(day: string): string {
  return `${day}T00:00:00.000Z`;
}

/** @param by may be negative */
export function addDays(day: string, by: number): string {
  return utcDay(Date.parse(day) + by * DAY_MS);
}

/** The number of days in a period, including both ends. */
export function daysBetween(first: string, last: string): number {
  return Math.round((Date.parse(last) - Date.parse(first)) / DAY_MS) + 1;
}

/** The first day of the calendar quarter that the day is in. */
export function quarterStart(day: string): string {
  const month = Math.floor((Number(day.slice(5, 7)) - 1) / 3) * 3 + 1;
  return `${day.slice(0, 5)}${String(month).padStart(2, '0')}-01`;
}

/** Every day of a period, including days without data. */
export function everyDay(counted: readonly DayCount[], first: string, last: string): DayCount[] {
  const counts = new Map(counted.map(({ day, count }) => [day, count]));
  return Array.from({ length: daysBetween(first, last) }, (_, index) => {
    const day = addDays(first, index);
    return { day, count: counts.get(day) ?? 0 };
  });
}

/** A day from the URL or a field, where any text is possible; empty if invalid or before 1970. */
export function toDay(text: string): string {
  const time = /^\d{4}-\d\d-\d\d$/u.test(text) ? Date.parse(text) : Number.NaN;
  // Browsers read 31 February as 3 March.
  return time >= 0 && utcDay(time) === text ? text : '';
}
