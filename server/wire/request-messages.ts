// The rules of the schema library, in our own words. Its own messages are never shown.
import type { z } from 'zod';
import { counted } from './counted.ts';
import { type BrokenRule, fixedRule, ruleOf, tooFew, tooMany } from './field-rules.ts';

const wrongType = (expected: string): BrokenRule => ({
  message: `must be ${expected}`,
  reason: 'wrong_type',
});

const TYPES: Readonly<Record<string, BrokenRule>> = {
  string: wrongType('text'),
  number: fixedRule('not_a_number'),
  int: fixedRule('not_a_whole_number'),
  boolean: wrongType('true or false'),
  array: wrongType('a list'),
  object: wrongType('an object'),
  record: wrongType('an object'),
  null: wrongType('null'),
};

const FORMATS: Readonly<Record<string, BrokenRule>> = {
  datetime: fixedRule('not_a_time'),
  date: { message: 'must be a date such as 2027-03-31', reason: 'not_a_date' },
  email: fixedRule('not_an_email'),
  uuid: { message: 'must be a UUID', reason: 'invalid_format' },
  base64: { message: 'must be base64', reason: 'invalid_format' },
  url: fixedRule('not_a_url'),
};

function oneOf(values: readonly unknown[]): BrokenRule {
  const choices = values.map(String);
  const [last, ...others] = choices.toReversed();
  const list = others.length === 0 ? String(last) : `${others.toReversed().join(', ')} or ${last}`;
  return { message: `must be ${list}`, reason: 'not_a_choice', values: { choices } };
}

type Bound = Extract<z.core.$ZodRawIssue, { code: 'too_small' | 'too_big' }>;

/** Shows the offending number. A text is not shown, because it may be a secret. */
function outOfBounds(issue: Bound): BrokenRule {
  const isSmall = issue.code === 'too_small';
  const limit = Number(isSmall ? issue.minimum : issue.maximum);
  const word = isSmall ? 'at least' : 'at most';
  const values = isSmall ? { min: limit } : { max: limit };
  if (issue.origin === 'string')
    return {
      message: `must have ${word} ${counted(limit, 'character')}`,
      reason: isSmall ? 'too_short' : 'too_long',
      values,
    };
  if (issue.origin === 'array' || issue.origin === 'set') return isSmall ? tooFew(limit) : tooMany(limit);
  const message = `must be ${word} ${limit} (got ${String(issue.input)})`;
  return { message, reason: isSmall ? 'too_small' : 'too_large', values };
}

function libraryRule(issue: z.core.$ZodRawIssue): BrokenRule {
  if (issue.input === undefined) return fixedRule('required');
  switch (issue.code) {
    case 'invalid_type':
      return TYPES[issue.expected] ?? wrongType('of another type');
    case 'invalid_value':
      return oneOf(issue.values);
    case 'too_small':
    case 'too_big':
      return outOfBounds(issue);
    case 'invalid_format':
      return FORMATS[issue.format] ?? fixedRule('invalid_format');
    case 'invalid_key':
      return {
        message: `has an invalid name: ${issue.issues[0]?.message ?? 'is invalid'}`,
        reason: 'invalid_name',
      };
    default:
      return { message: 'is invalid' };
  }
}

/** The message for an issue without a message in the schema; passed to `safeParse` as `error`. */
export const requestMessage = (issue: z.core.$ZodRawIssue): string => libraryRule(issue).message;

type Params = Pick<BrokenRule, 'reason' | 'values'> | undefined;

/** @param issue with its input: `safeParse` takes `reportInput` */
export function brokenRule(issue: z.core.$ZodIssue): BrokenRule {
  const { message } = issue;
  const known = ruleOf(message);
  if (known.reason) return known;
  if (issue.code === 'custom') return { message, ...(issue.params as Params) };
  // The first of the schemas that it may match describes what is asked for.
  const [first] = issue.code === 'invalid_union' ? (issue.errors[0] ?? []) : [];
  const { reason, values } = first ? brokenRule(first) : libraryRule(issue as z.core.$ZodRawIssue);
  return { message, reason, values };
}
