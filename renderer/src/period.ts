// The period that a list is limited to: its first and its last day, as in the URL. Either may be missing.
import { momentAfterDay } from '#server/wire/instants.ts';
import { formatDay } from './relative-time.ts';
import { startOfUtcDay, toDay } from './utc-days.ts';

export interface Period {
  from: string;
  to: string;
}

/** For the API, to which `to` is the first moment after the period. */
export function periodQuery(values: Period): Partial<Period> {
  const [from, to] = [toDay(values.from), toDay(values.to)];
  return {
    ...(from ? { from: startOfUtcDay(from) } : {}),
    ...(to ? { to: momentAfterDay(to) } : {}),
  };
}

/** @returns empty for a day that does not filter */
export const dayText = (day: string): string => (toDay(day) ? formatDay(day) : '');
