// Converts a verdict on a license to the error for the caller.
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { licenseVerdict, RULES_FOR } from './license-verdict.ts';
import type { License } from './license.ts';

const REVOKED = 'the license is revoked';
const expired = (license: License) => `the license expired at ${toTimestamp(license.expiresAt)}`;

/**
 * Refuses to activate a device.
 * @throws ApiError `license_revoked`, `license_expired` or `product_mismatch`
 */
export function refuseUnusable(license: License, product: string | undefined, now: number): void {
  const reason = licenseVerdict(RULES_FOR.activation, { license, product, now });
  if (reason === 'license_revoked') throw new ApiError(reason, REVOKED);
  if (reason === 'license_expired') throw new ApiError(reason, expired(license));
  if (reason === 'product_mismatch')
    throw new ApiError(reason, `the license is for ${license.product}, not for ${product}`);
}

/**
 * Refuses to lease a seat.
 * @throws ApiError `license_revoked`, `license_expired`, `product_mismatch`, `feature_not_included` or
 *   `license_is_node_locked`
 */
export function refuseLease(
  license: License,
  { product, feature }: { product: string | undefined; feature: string | undefined },
  now: number,
): void {
  refuseUnusable(license, product, now);
  const reason = licenseVerdict(RULES_FOR.lease, { license, product, feature, now });
  if (reason === 'feature_not_included')
    throw new ApiError(reason, `the license does not include the entitlement ${feature}`);
  if (license.licensing === 'node_locked')
    throw new ApiError('license_is_node_locked', 'the license is node-locked; activate the device instead');
}

/** Refuses to activate a device. @throws ApiError `license_is_floating` */
export function refuseFloating({ licensing }: License): void {
  if (licensing === 'floating')
    throw new ApiError('license_is_floating', 'the license is floating; check out a lease instead');
}

/**
 * Refuses to sign a license file or a certificate for a license that has ended.
 * @throws ApiError `license_revoked` or `license_expired`
 */
export function refuseUnsignable(license: License, now: number): void {
  const reason = licenseVerdict(RULES_FOR.signing, { license, now });
  if (reason === 'license_expired') throw new ApiError(reason, `${expired(license)}; renew it first`);
  if (reason !== null) throw new ApiError(reason, REVOKED);
}

/** @throws ApiError `license_revoked` */
export function refuseRevoked(license: License, now: number): void {
  const reason = licenseVerdict(RULES_FOR.change, { license, now });
  if (reason !== null) throw new ApiError(reason, REVOKED);
}

export function hasFreeSeat({ maxActivations, activationCount }: License): boolean {
  return maxActivations === null || activationCount < maxActivations;
}

/** For a license whose seats are limited and all taken. */
export const seatsTaken = (seats: number | null): string =>
  seats === 1 ? 'the only seat of the license is taken' : `all ${seats} seats of the license are taken`;

/** For a device without a seat. @throws ApiError `activation_limit_reached` */
export function refuseFull(license: License): void {
  if (hasFreeSeat(license)) return;
  throw new ApiError(
    'activation_limit_reached',
    `${seatsTaken(license.maxActivations)}; release ${license.maxActivations === 1 ? 'its' : 'a'} device first`,
  );
}
