// Public representations of a license. They list fields explicitly and never pass on the row.
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { SEAT_LIMITS } from './floating-terms.ts';
import { licenseState } from './license-lifecycle.ts';
import type { License } from './license.ts';

/**
 * The license fields of every reply and event.
 * @param machineFingerprint the affected device; by default the newest active device
 */
export function toLicenseSummary(license: License, machineFingerprint?: string) {
  return {
    license_id: license.id,
    license_key: license.licenseKey,
    holder: license.holder,
    product: license.product,
    plan: license.plan,
    machine_fingerprint: machineFingerprint ?? license.newestFingerprint,
    issued_at: toTimestamp(license.issuedAt),
    expires_at: toTimestamp(license.expiresAt),
  };
}

export function toLicenseObject(license: License, now: number, machineFingerprint?: string) {
  return {
    ...toLicenseSummary(license, machineFingerprint),
    state: licenseState(license, now),
    grace_ends_at: toTimestamp(license.graceEndsAt),
    // Activations cannot take the seats of a floating license.
    max_activations: isFloating(license) ? null : license.maxActivations,
    activation_count: license.activationCount,
    features: license.features,
    licensing: license.licensing,
    seats: isFloating(license) ? license.terms.seats : license.maxActivations,
  };
}

function isFloating({ licensing }: License): boolean {
  return licensing === 'floating';
}

function toSeatLimits(license: License) {
  if (!isFloating(license)) return null;
  const { terms } = license;
  const own: Record<(typeof SEAT_LIMITS)[number], number | null> = {
    seats: license.ownSeats,
    overdraft_seats: license.ownOverdraftSeats,
    borrow_max_hours: license.ownBorrowMaxHours,
    borrow_max_count: license.ownBorrowMaxCount,
    borrow_keep_free: license.ownBorrowKeepFree,
  };
  return {
    seats: terms.seats,
    overdraft_seats: terms.overdraftSeats,
    borrow_max_hours: terms.borrowMaxHours,
    borrow_max_count: terms.borrowMaxCount,
    borrow_keep_free: terms.borrowKeepFree,
    lease_seconds: terms.leaseSeconds,
    count_by: terms.countBy,
    linger_seconds: terms.lingerSeconds,
    overridden: SEAT_LIMITS.filter((name) => own[name] !== null),
  };
}

/** The fields for administrators. */
export function toLicenseRecord(license: License, now: number) {
  return {
    ...toLicenseObject(license, now),
    email: license.email,
    order_number: license.orderNumber,
    notes: license.notes,
    custom_fields: license.customFields,
    first_activated_at: toTimestampOrNull(license.firstActivatedAt),
    revoked_at: toTimestampOrNull(license.revokedAt),
    revoke_reason: license.revokeReason,
    seat_limits: toSeatLimits(license),
  };
}

type LicenseObject = ReturnType<typeof toLicenseObject>;

/** The record without the fields for administrators. */
export function publicLicense(record: ReturnType<typeof toLicenseRecord>): LicenseObject {
  const {
    email,
    order_number,
    notes,
    custom_fields,
    first_activated_at,
    revoked_at,
    revoke_reason,
    seat_limits,
    ...license
  } = record;
  // The compiler reports a field for administrators that is not left out above.
  return license satisfies Record<Exclude<keyof typeof license, keyof LicenseObject>, never>;
}
