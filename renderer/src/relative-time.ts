// Relative times and durations in the language of the page.
import { computed } from 'vue';
import { intlLocale } from './i18n/i18n.ts';

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

type Unit = 'year' | 'month' | 'day' | 'hour' | 'minute' | 'second';

/** The smallest number of seconds for each unit. Days are used up to two months, because terms are counted in days. */
const UNITS: readonly { from: number; unit: Unit; size: number }[] = [
  // What rounds to two years: a renewal by two years is never `in 24 months`.
  { from: 715 * DAY, unit: 'year', size: 365.2425 * DAY },
  { from: 60 * DAY, unit: 'month', size: 30.436875 * DAY },
  { from: DAY, unit: 'day', size: DAY },
  { from: HOUR, unit: 'hour', size: HOUR },
  { from: MINUTE, unit: 'minute', size: MINUTE },
];
const SECONDS = { unit: 'second', size: 1 } as const;
/** Those that are always of the same length. */
const EXACT_UNITS = UNITS.filter(({ size }) => size <= DAY);

function inUnits(seconds: number): { unit: Unit; value: number } {
  const distance = Math.abs(seconds);
  const { unit, size } = UNITS.find(({ from }) => distance >= from) ?? SECONDS;
  return { unit, value: Math.round(seconds / size) };
}

const relative = computed(() => new Intl.RelativeTimeFormat(intlLocale.value, { numeric: 'always' }));
/** `now` and `today` */
const inWords = computed(() => new Intl.RelativeTimeFormat(intlLocale.value, { numeric: 'auto' }));

/** The page's clock may lag by this many seconds, so recent events can appear to be in the future. */
const CLOCK_LAG = 15;

/** `in 12 months`, `3 days ago`. @param now epoch milliseconds */
export function relativeTime(timestamp: string, now: number): string {
  const ahead = (Date.parse(timestamp) - now) / 1000;
  const { unit, value } = inUnits(ahead > 0 && ahead <= CLOCK_LAG ? -0 : ahead);
  return (unit === 'second' && value === 0 ? inWords : relative).value.format(value, unit);
}

const dates = computed(
  () =>
    new Intl.DateTimeFormat(intlLocale.value, {
      day: 'numeric',
      month: 'short',
      year: 'numeric',
      timeZone: 'UTC',
    }),
);
const clock = { hour: '2-digit', minute: '2-digit', timeZone: 'UTC' } as const;
const toMinute = computed(() => new Intl.DateTimeFormat(intlLocale.value, clock));
const toSecond = computed(() => new Intl.DateTimeFormat(intlLocale.value, { ...clock, second: '2-digit' }));

/** `17 Nov 2027` in UTC, for a sentence that already says `on` */
export const formatDay = (timestamp: string): string => dates.value.format(new Date(timestamp));

const dayNumber = (moment: number): number => Math.floor(moment / (DAY * 1000));

/** How exact a date is. Today is shown to the minute in any case. */
export type Precision = 'day' | 'minute' | 'second';

/** `17 Nov 2027` or `today`, and `14:40` or `14:40:05`, in UTC as everywhere. @param now epoch milliseconds; null shows every day as a date */
export function dateParts(
  timestamp: string,
  now: number | null,
  precision: Precision = 'day',
): [day: string, time?: string] {
  const at = Date.parse(timestamp);
  const isToday = now !== null && dayNumber(at) === dayNumber(now);
  const day = isToday ? inWords.value.format(0, 'day') : dates.value.format(at);
  if (precision === 'day' && !isToday) return [day];
  return [day, (precision === 'second' ? toSecond : toMinute).value.format(at)];
}

/** `17 Nov 2027`; today `today, 14:40`. @param now epoch milliseconds */
export const formatDate = (timestamp: string, now: number): string => dateParts(timestamp, now).join(', ');

function withUnit({ unit, value }: { unit: Unit; value: number }): string {
  return new Intl.NumberFormat(intlLocale.value, { style: 'unit', unit, unitDisplay: 'long' }).format(value);
}

/** `3 hours`, rounded */
export const duration = (seconds: number): string => withUnit(inUnits(seconds));

/** `90 minutes`: exact, for a time that someone has set */
export function exactDuration(seconds: number): string {
  const { unit, size } =
    EXACT_UNITS.find((one) => seconds % one.size === 0 && seconds >= one.size) ?? SECONDS;
  return withUnit({ unit, value: seconds / size });
}

/** `2027-11-20 09:48:00 UTC` @param timestamp in UTC, as the server sends them */
export function utcTime(timestamp: string): string {
  return `${timestamp.slice(0, 10)} ${timestamp.slice(11, 19)} UTC`;
}
