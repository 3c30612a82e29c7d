// Checks what a command is about to send, so that a bad value fails with the name of its option and exit code 2.
import type { Command } from 'commander';
import type { z } from 'zod';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { CommandFailure, usageFailure } from './command-failure.ts';
import { optionNameOf } from './option-names.ts';
import { shownValue } from './shown-value.ts';

type Issue = z.core.$ZodRawIssue;

const TYPES: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
};
const FORMATS: Readonly<Record<string, string>> = {
  email: 'must be an email address',
  datetime: 'must be a date such as 2027-01-31, or a time with an offset such as 2027-01-31T12:00:00Z',
  uuid: 'must be the ID of an import',
};
const UNITS: Readonly<Record<string, string>> = { string: ' characters', array: ' items' };

/** What is wrong, in words that follow the name of the option. */
function problemText(issue: Issue): string {
  const unit = UNITS[issue.code === 'too_big' || issue.code === 'too_small' ? issue.origin : ''] ?? '';
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${TYPES[issue.expected] ?? 'valid'}`;
    case 'too_big':
      return `must be at most ${issue.maximum}${unit}`;
    case 'too_small':
      return `must be at least ${issue.minimum}${unit}`;
    case 'invalid_format':
      return FORMATS[issue.format] ?? 'has the wrong format';
    case 'invalid_value':
      return `must be one of ${issue.values.map(String).join(', ')}`;
    default:
      return 'is not valid';
  }
}

function valueAt(input: object, path: string): unknown {
  let value: unknown = input;
  for (const key of path.split('.')) value = (value as Record<string, unknown> | null | undefined)?.[key];
  return value;
}

/** `--limit must be at most 500 (got 501)` */
function sentence(command: Command, input: object, path: string, problem: string): string {
  const { name, fromFile } = optionNameOf(command, path) ?? { name: path, fromFile: false };
  const subject = fromFile ? `the content of ${name}` : name;
  const isPredicate = /^(?:must|is|has|contains|may|cannot|does) /u.test(problem);
  const text = `${subject}${isPredicate ? '' : ':'} ${problem}`;
  const value = valueAt(input, path);
  const isShown = value !== undefined && !fromFile && typeof value !== 'object';
  return isShown ? `${text} (got ${shownValue(value)})` : text;
}

/** @throws CommandFailure if the service would refuse the input for its form; wrong usage, unless a file is the cause */
export function refuseBadRequest(command: Command, row: Endpoint, input: object): void {
  const parsed = row.request.safeParse(input, { error: problemText });
  if (parsed.success) return;
  const problems = parsed.error.issues.map(({ path, message }) => ({ path: path.join('.'), message }));
  const sentences = problems.map(({ path, message }) => sentence(command, input, path, message));
  const text = [...new Set(sentences)].join('; ');
  const isContent = problems.every(({ path }) => optionNameOf(command, path)?.fromFile === true);
  throw isContent ? new CommandFailure('invalid_request', text) : usageFailure(text);
}

/** The service's own refusal of a value, by the name of the option; any other failure is returned unchanged. */
export function namedByOption(command: Command, input: object, error: unknown): unknown {
  if (!(error instanceof ApiError) || error.code !== 'invalid_request' || !error.details?.length)
    return error;
  if (!error.details.some(({ path }) => optionNameOf(command, path) !== null)) return error;
  const sentences = error.details.map(({ path, message }) => sentence(command, input, path, message));
  return new CommandFailure('invalid_request', sentences.join('; '));
}
