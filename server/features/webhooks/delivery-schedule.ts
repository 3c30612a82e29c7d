// When a failed delivery is retried (interface document, "Retry rules"; contract, section 6). Pure.

/** The first attempt and five retries. */
const MAX_ATTEMPTS = 6;

/**
 * Adds up to this share of a delay at random, so that deliveries that failed together are not all retried together.
 * The contract allows a tenth; the rest is for the database and a busy machine.
 */
const JITTER = 0.02;

/** `Retry-After` can extend a delay by at most this factor. */
const LONGEST_STRETCH = 2;

/** HTTP-date in its three forms (RFC 9110 section 5.6.7). The last one has no zone and is in UTC. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/u;

/**
 * How long to wait after a failed attempt: 1, 2, 4, 8, 16 units, never less and at most 2 % more. `Retry-After` can
 * extend a delay up to twofold.
 * @param failedAttempts failed attempts in this cycle, including the last one: 1 to 6
 * @param unitMs one backoff unit in milliseconds
 * @param retryAfterMs requested by the receiver, in milliseconds, or null
 * @param random 0 to 1
 * @returns whole milliseconds, or null after the sixth attempt: the delivery has failed
 */
export function retryDelayMs(
  failedAttempts: number,
  unitMs: number,
  retryAfterMs: number | null,
  random: () => number = Math.random,
): number | null {
  if (failedAttempts >= MAX_ATTEMPTS) return null;
  const base = Math.ceil(unitMs * 2 ** (failedAttempts - 1));
  const spread = base + Math.floor(base * JITTER * random());
  return Math.max(spread, Math.ceil(Math.min(retryAfterMs ?? 0, base * LONGEST_STRETCH)));
}

/**
 * Reads a `Retry-After` header (RFC 9110 section 10.2.3), in seconds or as a date.
 * @param now epoch milliseconds
 * @returns milliseconds from now, never negative; null if the header is missing or malformed
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/u.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  if (!HTTP_DATE.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
