// How much attention an expiry date needs.
import { DAY_MS } from '#server/wire/instants.ts';

const SOON_MS = 30 * DAY_MS;

interface Term {
  /** ISO 8601 */
  expires_at: string;
  /** ISO 8601; without it, use ends on the expiry date. */
  grace_ends_at?: string;
}

/** `warn` in the last 30 days and in the grace period, `bad` afterwards. @param now epoch milliseconds */
export function expiryTone(
  { expires_at: expires, grace_ends_at: ends = expires }: Term,
  now: number,
): 'warn' | 'bad' | undefined {
  if (Date.parse(ends) <= now) return 'bad';
  return Date.parse(expires) <= now + SOON_MS ? 'warn' : undefined;
}
