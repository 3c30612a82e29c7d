// Periods of the statistics, as days and for the API.
import { momentAfterDay } from '#server/wire/instants.ts';
import { addDays, daysBetween, startOfUtcDay, utcDay } from '../../utc-days.ts';

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

/** As long, and ends the day before. */
export function periodBefore({ first, last }: Period): Period {
  return { first: addDays(first, -daysBetween(first, last)), last: addDays(first, -1) };
}

/** The days that end today, with as many before them. */
export function comparedDays(): Period {
  const period = lastDays();
  return { first: periodBefore(period).first, last: period.last };
}

/** For the API. */
export function toWholeDays({ first, last }: Period): { from: string; to: string } {
  return { from: startOfUtcDay(first), to: momentAfterDay(last) };
}
