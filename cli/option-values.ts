// Parsers for the values of options and arguments. A message follows the option's name: `--days must be …`.
import { InvalidArgumentError } from 'commander';
import { sentenceOf } from '#server/wire/field-rules.ts';
import { endOfUtcDay, LAST_MOMENT, momentAfterDay } from '#server/wire/instants.ts';
import { parseLicenseKey } from '#server/rules/license-key.ts';
import { STANDARD_STREAM } from './text-file.ts';

/** @param most no upper limit if left out */
export function wholeNumber(least: number, most?: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/u.test(text) && value >= least && value <= (most ?? Infinity)) return value;
    throw new InvalidArgumentError(
      most === undefined
        ? `must be a whole number of at least ${least}`
        : `must be a whole number between ${least} and ${most}`,
    );
  };
}

/** Of a term, token, certificate or license file. */
export const days = wholeNumber(1, 36_500);

const MAX_SEATS = 1_000_000_000;
const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/iu;

/**
 * ISO 8601 with an offset, or a date, which means 00:00 UTC.
 * @returns the same moment in UTC, such as `2027-01-31T00:00:00.000Z`
 */
export function moment(text: string): string {
  const [, date = '', time = 'T00:00:00Z'] = MOMENT.exec(text.trim()) ?? [];
  const iso = toIsoOrNull(`${date}${time}`.toUpperCase());
  // Date reads 31 February as 3 March.
  const isRealDay = date !== '' && toIsoOrNull(`${date}T00:00:00Z`)?.startsWith(date);
  if (isRealDay && iso !== null) {
    // An offset can lead to the year 10000.
    if (Date.parse(iso) > LAST_MOMENT) throw new InvalidArgumentError(sentenceOf('not_in_calendar'));
    return iso;
  }
  throw new InvalidArgumentError(
    'must be a date such as 2027-01-31, or a time with an offset such as 2027-01-31T12:00:00Z',
  );
}

const isDate = (text: string) => !/t/iu.test(text);
const dayOf = (iso: string) => iso.slice(0, 'yyyy-mm-dd'.length);

/** Of a license or token: as `moment`, but a date is the last valid day. */
export function expiry(text: string): string {
  const iso = moment(text);
  return isDate(text) ? endOfUtcDay(dayOf(iso)) : iso;
}

/** Of a period's end: as `moment`, but a date means the end of that day. */
export function momentAfter(text: string): string {
  const iso = moment(text);
  return isDate(text) ? momentAfterDay(dayOf(iso)) : iso;
}

const UNIT_SECONDS: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3600 };

/** `90s`, `10m`, `2h`, or a number of seconds. @returns seconds */
export function duration(text: string, mostSeconds: number): number {
  const [, number = '', unit = 's'] = /^(\d{1,9})([smh])?$/u.exec(text.trim()) ?? [];
  const seconds = Number(number) * (UNIT_SECONDS[unit] ?? 1);
  if (number !== '' && seconds <= mostSeconds) return seconds;
  throw new InvalidArgumentError(
    `must be a duration such as 90s, 10m or 2h, up to ${mostSeconds / 3600} hours`,
  );
}

/** `sha256:<64 hex>`, in lower case as the server stores it. */
export function fingerprint(text: string): string {
  const value = text.trim().toLowerCase();
  if (/^sha256:[0-9a-f]{64}$/u.test(value)) return value;
  throw new InvalidArgumentError(sentenceOf('not_a_fingerprint'));
}

/** A license key in its canonical form. */
export function licenseKey(text: string): string {
  const key = parseLicenseKey(text);
  if (key !== null) return key;
  throw new InvalidArgumentError(
    'must be a license key: five groups of five characters with a matching checksum',
  );
}

/** For a secret, or for what is read again after it was written. */
export function newFile(text: string): string {
  if (text !== STANDARD_STREAM) return text;
  throw new InvalidArgumentError('must be a new file, not stdout');
}

/** `a,b,c`; an empty text is an empty list. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/** For a change: an empty text clears the field. Not a parser, because commander takes null for a missing value. */
export function clearedIfEmpty<Text extends string | undefined>(text: Text): Text | null {
  return text === '' ? null : text;
}

/** For an option that can be repeated. */
export function collected(text: string, before: readonly string[] = []): string[] {
  return [...before, text];
}

/** A number of devices, or `unlimited`; commander takes null for a missing value. */
export function seats(text: string): number | 'unlimited' {
  if (text === 'unlimited') return text;
  try {
    return wholeNumber(1, MAX_SEATS)(text);
  } catch {
    throw new InvalidArgumentError(`must be unlimited, or a whole number between 1 and ${MAX_SEATS}`);
  }
}

function toIsoOrNull(text: string): string | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
