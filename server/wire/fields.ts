// Field types of requests and replies.
import { z } from 'zod';
import { isNetwork } from './address-text.ts';
import { refusal, RULE_REASONS, sentenceOf } from './field-rules.ts';
import { LAST_MOMENT } from './instants.ts';
import { readableText, textProblem } from './readable-text.ts';
import { ruleValues } from './rule-values.ts';

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/u;

/** PostgreSQL cannot store NUL or broken surrogates, and a SQLite pattern ends at a NUL. */
function isPlain(value: string): boolean {
  return !CONTROL_CHARACTERS.test(value) && value.isWellFormed();
}

/** Trimmed, 1 to `max` characters. A longer text is not examined further, so that it costs no time. */
function limitedText(max: number) {
  return z.string().trim().min(1, sentenceOf('empty')).max(max, { abort: true });
}

/** A single line that an administrator enters, without hidden characters. */
export function text(max: number) {
  return limitedText(max).superRefine((value, context) => {
    const problem = textProblem(value);
    if (problem !== null) context.addIssue({ code: 'custom', ...refusal(problem) });
  });
}

/** Text that an administrator enters in a text area: any number of lines. */
export function multilineText(max: number) {
  return limitedText(max).superRefine((value, context) => {
    const problem = textProblem(value, { multiline: true });
    if (problem !== null) context.addIssue({ code: 'custom', ...refusal(problem) });
  });
}

/**
 * A single line that client software reports. Hidden characters are removed, because the user cannot change them. A
 * text without other characters counts as missing.
 */
export function clientText(max: number) {
  return limitedText(max)
    .transform((value) => readableText(value).trim() || undefined)
    .optional();
}

/** Text in a search field; may be empty. */
export function searchText(max: number) {
  return z.string().trim().max(max, { abort: true }).refine(isPlain, sentenceOf('control_character'));
}

/** A whole number within bounds: text in a query string, a number in a JSON body. */
export function queryNumber(least: number, most: number) {
  const isInteger = sentenceOf('not_a_whole_number');
  const inRange = z
    .int({ error: ({ code }) => (code === 'invalid_type' ? isInteger : undefined) })
    .min(least)
    .max(most);
  const written = z
    .string()
    .regex(/^\d{1,15}$/u)
    .transform(Number)
    .pipe(inRange);
  const bounds = most === Number.MAX_SAFE_INTEGER ? `of at least ${least}` : `between ${least} and ${most}`;
  const error = ({ input }: { input?: unknown }) =>
    input === undefined ? sentenceOf('required') : `${isInteger} ${bounds}`;
  return z.union([inRange, written], { error }).meta({
    override({ jsonSchema }) {
      delete jsonSchema.anyOf;
      Object.assign(jsonSchema, { type: 'integer', minimum: least, maximum: most });
    },
  });
}

/** A secret from a caller. One that is too long is treated like an unknown one. */
export const secretText = z.string();

export const id = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
/** An ID in a query string. */
export const queryId = queryNumber(1, Number.MAX_SAFE_INTEGER);

export const slug = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/u, sentenceOf('not_a_slug'))
  .meta({ description: '1 to 64 lowercase letters, digits or hyphens.' });

export const fingerprint = z
  .string()
  .regex(/^sha256:[0-9A-Fa-f]{64}$/u, sentenceOf('not_a_fingerprint'))
  .toLowerCase()
  .meta({
    description:
      'Device fingerprint: `sha256:` followed by 64 hex digits, in either case. Replies have it in lower case.',
  });

/** A network in CIDR notation; a single address is a network of one. */
export const network = z.string().max(50, { abort: true }).refine(isNetwork, sentenceOf('not_a_network'));

/** A time in a request: ISO 8601 with offset, epoch milliseconds for the handler. */
export const moment = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value))
  .refine((value) => value >= 0 && value <= LAST_MOMENT, sentenceOf('not_in_calendar'));

/** A time in a reply: ISO 8601 in UTC with `Z`. */
export const timestamp = z.iso.datetime();

export const days = z.int().min(1).max(36_500);

/** @param ms epoch milliseconds; a grace period that ends after the year 9999 is shown with the end of that year */
export function toTimestamp(ms: number): string {
  return new Date(Math.min(ms, LAST_MOMENT)).toISOString();
}

/** @param ms epoch milliseconds, or null */
export function toTimestampOrNull(ms: number | null): string | null {
  return ms === null ? null : toTimestamp(ms);
}

function isFile(value: unknown): boolean {
  return (
    value instanceof Blob || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value)
  );
}

/** The field `file` of an upload: a Blob for the sender, a stream of bytes for the receiver. */
export const uploadedFile = z
  .custom<Blob | AsyncIterable<Uint8Array>>(isFile, 'must be a file')
  .transform((file): AsyncIterable<Uint8Array> => (file instanceof Blob ? file.stream() : file));

/** Request fields of every list: page size and cursor. */
export const pageRequest = {
  // The generated schema of a field that is also written as text has no default.
  limit: queryNumber(1, 500)
    .default(50)
    .meta({ description: 'Entries per page.', override: { default: 50 } }),
  cursor: z.string().max(500).optional().meta({ description: 'The `next_cursor` of the previous page.' }),
};

/** A request that names its object by any of these fields. */
export function needsOneOf<Shape extends z.ZodRawShape>(
  request: z.ZodObject<Shape>,
  ...names: [keyof Shape & string, ...(keyof Shape & string)[]]
) {
  return request
    .refine((given) => names.some((name) => (given as Record<string, unknown>)[name] !== undefined), {
      ...refusal({
        message: `${names.join(' or ')} is required`,
        reason: 'one_required',
        values: { fields: names },
      }),
      path: [names[0]],
    })
    .meta({ override: { anyOf: names.map((name) => ({ required: [name] })) } });
}

/** Reply fields of every list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return { items: z.array(item), next_cursor: z.string().nullable() };
}

/** Reply fields of everything that tells which rule a value breaks. */
export const brokenRuleFields = {
  message: z.string().meta({ description: 'In English. Its wording may change.' }),
  reason: z.enum(RULE_REASONS).optional().meta({
    description: 'The rule that the value breaks. Left out where the message is all there is.',
  }),
  values: ruleValues
    .optional()
    .meta({ description: 'The values in the message, such as the limit or the choices.' }),
};
