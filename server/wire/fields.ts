// The field types that requests and replies are made of.
import { z } from 'zod';
import { readableText, textProblem } from './readable-text.ts';

const CONTROL_CHARACTERS = /[\u0000-\u001f\u007f]/u;

/** PostgreSQL stores neither control characters nor broken surrogates, and a SQLite pattern ends at a NUL. */
function isPlain(value: string): boolean {
  return !CONTROL_CHARACTERS.test(value) && value.isWellFormed();
}

/** One line that an administrator enters: trimmed, 1 to `max` characters, none of them hidden. */
export function text(max: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .superRefine((value, context) => {
      const message = textProblem(value);
      if (message !== null) context.addIssue({ code: 'custom', message });
    });
}

/**
 * One line that client software says of itself: trimmed, 1 to `max` characters. Hidden characters are taken out, as
 * its user cannot change them; a text of nothing else counts as not given.
 */
export function clientText(max: number) {
  return z
    .string()
    .trim()
    .min(1, 'must not be empty')
    .max(max)
    .transform((value) => readableText(value).trim() || undefined)
    .optional();
}

/** What people type into a search field; may be empty. */
export function searchText(max: number) {
  return z.string().trim().max(max).refine(isPlain, 'contains control characters');
}

/** A whole number in a query string, or as it is in a JSON body. */
const wholeNumber = z
  .union([
    z.int(),
    z
      .string()
      .regex(/^\d{1,15}$/u, 'must be a whole number')
      .transform(Number),
  ])
  .meta({ override: { type: 'integer' } });

/** A whole number in a query string, within bounds. */
export function queryNumber(least: number, most: number) {
  return wholeNumber.pipe(z.int().min(least).max(most));
}

/** A secret as presented by a caller; anything too long to be one is simply an unknown one. */
export const secretText = z.string().max(4096);

export const id = z.int().positive().max(Number.MAX_SAFE_INTEGER);
/** An id in a query string. */
export const queryId = wholeNumber.pipe(id);

export const slug = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/u, 'must be 1 to 64 of a-z, 0-9 and -')
  .meta({ description: 'Slug: 1 to 64 of a-z, 0-9 and -' });

export const fingerprint = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/u, 'must be sha256: and 64 lower-case hex digits')
  .meta({ description: 'Machine fingerprint, `sha256:<64 hex>`' });

/** The last moment that timestamps of four-digit years can show; people write it for "never". */
export const LAST_MOMENT = Date.UTC(10_000, 0, 1) - 1;

/** A moment in a request: ISO 8601 with offset on the wire, epoch milliseconds to the handler. */
export const moment = z.iso
  .datetime({ offset: true })
  .transform((value) => Date.parse(value))
  .refine((value) => value >= 0 && value <= LAST_MOMENT, 'must lie between 1970 and 9999');

/** A moment in a reply: ISO 8601 UTC with `Z`. */
export const timestamp = z.iso.datetime();

export const days = z.int().min(1).max(36_500);

export const DAY_MS = 86_400_000;

/** @param ms epoch milliseconds; a grace period that ends after the year 9999 is shown to end with it */
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

/** The field `file` of an upload: a Blob to whoever sends it, its bytes as they come in to whoever takes it. */
export const uploadedFile = z
  .custom<Blob | AsyncIterable<Uint8Array>>(isFile, 'must be a file')
  .transform((file): AsyncIterable<Uint8Array> => (file instanceof Blob ? file.stream() : file));

/** The request half of every list: page size and where to go on. */
export const pageRequest = {
  limit: queryNumber(1, 500).default(50),
  cursor: z.string().max(500).optional(),
};

/** The reply half of every list. */
export function pageOf<Item extends z.ZodType>(item: Item) {
  return { items: z.array(item), next_cursor: z.string().nullable() };
}
