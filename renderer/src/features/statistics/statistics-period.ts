// Periods of the statistics, as days and for the API.
import { addDays, startOfUtcDay, utcDay } from '../../utc-days.ts';

export interface Period {
  first: string;
  last: string;
}

/** Of the period until another one is chosen. */
export const DEFAULT_DAYS = 30;

/** The days that end today. */
export function lastDays(days = DEFAULT_DAYS, today = utcDay(Date.now())): Period {
  return { first: addDays(today, 1 - days), last: today };
}

/** For the API. */
export function toWholeDays({ first, last }: Period): { from: string; to: string } {
  return { from: startOfUtcDay(first), to: startOfUtcDay(addDays(last, 1)) };
}
