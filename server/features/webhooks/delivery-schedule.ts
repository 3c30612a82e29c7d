// When a failed delivery is tried again (interface document, "Retry rules"; contract, section 6). Pure.

/** The first attempt and five retries. */
const MAX_ATTEMPTS = 6;

/**
 * Up to this share of a delay is added at random, so that deliveries that failed together do not all return together. The
 * contract allows a tenth; the rest is for the database and a busy machine.
 */
const JITTER = 0.02;

/** Of what a receiver may ask for with `Retry-After`. */
const LONGEST_STRETCH = 2;

/** HTTP-date in its three forms (RFC 9110 section 5.6.7); the last of them names no zone and is in UTC. */
const HTTP_DATE =
  /^(?:[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} [\d:]{8} GMT|[A-Z][a-z]{5,8}, \d{2}-[A-Z][a-z]{2}-\d{2} [\d:]{8} GMT|[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d [\d:]{8} \d{4})$/u;

/**
 * How long to wait after a failed attempt: 1, 2, 4, 8, 16 units, never less and at most 2 % more. A receiver that asks
 * for more time gets up to twice that delay.
 *
 * @param failedAttempts of this cycle, the one that has just failed included: 1 to 6
 * @param unitMs one backoff unit in milliseconds
 * @param retryAfterMs what the receiver asked for, in milliseconds, or null
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
 * Reads a `Retry-After` header (RFC 9110 section 10.2.3), seconds or a date.
 *
 * @param now epoch milliseconds
 * @returns milliseconds from now, never negative; null if there is no such header or it is neither
 */
export function parseRetryAfter(header: string | undefined, now: number): number | null {
  const text = header?.trim() ?? '';
  if (/^\d+$/u.test(text)) return Math.min(Number(text) * 1000, Number.MAX_SAFE_INTEGER);
  if (!HTTP_DATE.test(text)) return null;
  const at = Date.parse(text.endsWith('GMT') ? text : `${text} GMT`);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
