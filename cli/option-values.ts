// What the values of options and arguments may look like; anything else is wrong usage.
import { InvalidArgumentError } from 'commander';
import { parseLicenseKey } from '#server/rules/license-key.ts';

/** A whole number from `least` up; how far up is for the service to say. */
export function wholeNumber(least: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (/^\d{1,15}$/u.test(text) && value >= least) return value;
    throw new InvalidArgumentError(`It must be a whole number, ${least} or more.`);
  };
}

const MOMENT = /^(\d{4}-\d{2}-\d{2})(T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:\d{2}))?$/iu;

/**
 * ISO 8601 with an offset, or a plain date, which means its first moment in UTC.
 * @returns the same moment in UTC, such as `2027-01-31T00:00:00.000Z`
 */
export function moment(text: string): string {
  const [, date = '', time = 'T00:00:00Z'] = MOMENT.exec(text.trim()) ?? [];
  const iso = toIsoOrNull(`${date}${time}`.toUpperCase());
  // Date takes the 31st of February for the 3rd of March.
  const isRealDay = date !== '' && toIsoOrNull(`${date}T00:00:00Z`)?.startsWith(date);
  if (isRealDay && iso !== null) return iso;
  throw new InvalidArgumentError(
    'It must be a date such as 2027-01-31, or a time with offset: 2027-01-31T12:00:00Z.',
  );
}

/** `sha256:<64 hex>`, in lower case whichever way it was typed. */
export function fingerprint(text: string): string {
  const value = text.trim().toLowerCase();
  if (/^sha256:[0-9a-f]{64}$/u.test(value)) return value;
  throw new InvalidArgumentError('It must be sha256: and 64 hex digits.');
}

/** A license key in its canonical form, however it was typed. */
export function licenseKey(text: string): string {
  const key = parseLicenseKey(text);
  if (key !== null) return key;
  throw new InvalidArgumentError(
    'A license key has five groups of five characters; one of them is mistyped.',
  );
}

/** `a,b,c`; an empty text is an empty list. */
export function commaList(text: string): string[] {
  return text
    .split(',')
    .map((part) => part.trim())
    .filter(Boolean);
}

/** A number of devices, or `unlimited`; not null, which commander takes for no value at all. */
export function seats(text: string): number | 'unlimited' {
  return text === 'unlimited' ? text : wholeNumber(1)(text);
}

function toIsoOrNull(text: string): string | null {
  const date = new Date(text);
  return Number.isNaN(date.getTime()) ? null : date.toISOString();
}
