// Messages for invalid fields. The validation library's own messages are never shown.
import type { z } from 'zod';
import { counted } from './counted.ts';

const TYPES: Readonly<Record<string, string>> = {
  string: 'text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
  null: 'null',
};

const FORMATS: Readonly<Record<string, string>> = {
  datetime: 'a date and time with a time zone, such as 2027-03-31T12:00:00Z',
  date: 'a date such as 2027-03-31',
  email: 'an email address',
  uuid: 'a UUID',
  base64: 'base64',
  url: 'a URL',
};

function oneOf(values: readonly unknown[]): string {
  const [last, ...others] = values.map(String).toReversed();
  return others.length === 0 ? String(last) : `${others.toReversed().join(', ')} or ${last}`;
}

/** Shows the offending number. A text is not shown, because it may be a secret. */
function bound(origin: string, limit: number | bigint, input: unknown, word: string): string {
  if (origin === 'string') return `must have ${word} ${counted(limit, 'character')}`;
  if (origin === 'array' || origin === 'set')
    return `must have ${word} ${limit} ${Number(limit) === 1 ? 'entry' : 'entries'}`;
  return `must be ${word} ${limit} (got ${String(input)})`;
}

/** The message for an issue without a message in the schema; passed to `safeParse` as `error`. */
export function requestMessage(issue: z.core.$ZodRawIssue): string {
  if (issue.input === undefined) return 'is required';
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${TYPES[issue.expected] ?? 'of another type'}`;
    case 'invalid_value':
      return `must be ${oneOf(issue.values)}`;
    case 'too_small':
      return bound(issue.origin, issue.minimum, issue.input, 'at least');
    case 'too_big':
      return bound(issue.origin, issue.maximum, issue.input, 'at most');
    case 'invalid_format':
      return FORMATS[issue.format] === undefined
        ? 'has an invalid format'
        : `must be ${FORMATS[issue.format]}`;
    case 'invalid_key':
      return `has an invalid name: ${issue.issues[0]?.message ?? 'is invalid'}`;
    default:
      return 'is invalid';
  }
}
