// What a renewal will set, as the server computes it: from the expiry date, or from now if that has passed.
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { DAY_MS, LAST_MOMENT } from '#server/wire/instants.ts';

/** @param days undefined if the plan is not known yet. @param now epoch milliseconds */
export function renewedUntil(
  { expires_at: end }: Pick<LicenseRecord, 'expires_at'>,
  days: number | undefined,
  now: number,
): string | null {
  if (days === undefined || !Number.isInteger(days) || days < 1) return null;
  const from = Math.max(Date.parse(end), now);
  return new Date(Math.min(from + days * DAY_MS, LAST_MOMENT)).toISOString();
}
