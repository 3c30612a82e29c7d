// What keeps a device from being activated: refused alike when it asks and when an administrator wants to know beforehand.
import type { License } from '#server/features/licenses/license-store.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';

/** @throws ApiError `license_revoked`, `license_expired` or `product_mismatch` */
export function refuseUnusable(license: License, product: string | undefined, now: number): void {
  if (license.revokedAt !== null) throw new ApiError('license_revoked', 'the license is revoked');
  if (now >= license.graceEndsAt) {
    throw new ApiError('license_expired', `the license expired at ${toTimestamp(license.expiresAt)}`);
  }
  if (product !== undefined && product !== license.product) {
    throw new ApiError('product_mismatch', `the license is for ${license.product}, not for ${product}`);
  }
}

export function hasFreeSeat({ maxActivations, activationCount }: License): boolean {
  return maxActivations === null || activationCount < maxActivations;
}

/** For a device that has no seat yet. @throws ApiError `activation_limit_reached` */
export function refuseFull(license: License): void {
  if (hasFreeSeat(license)) return;
  throw new ApiError(
    'activation_limit_reached',
    `all ${license.maxActivations} devices of the license are taken; release one first`,
  );
}
