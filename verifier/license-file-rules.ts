// The rules for a license file with a valid signature: clock, term, device, product and entitlement.
import type { LicenseFilePayload } from './license-file-payload.ts';

/** The rules in the order in which they are checked, each with the reason a file is refused for when it fails. */
export const REASON_OF_RULE = {
  known_key: 'unknown_key_id',
  trusted_key: 'key_distrusted',
  signature: 'signature_invalid',
  decryption: 'machine_mismatch',
  contents: 'signature_invalid',
  clock: 'not_yet_valid',
  clock_history: 'clock_rolled_back',
  license_term: 'license_expired',
  file_term: 'file_expired',
  not_revoked: 'license_revoked',
  machine: 'machine_mismatch',
  product: 'product_mismatch',
  feature: 'feature_not_included',
} as const;

export type VerificationRule = keyof typeof REASON_OF_RULE;
export type VerificationReason = (typeof REASON_OF_RULE)[VerificationRule];

/** What a rule compared, by name. */
export type CheckInputs = Readonly<Record<string, string | readonly string[] | null>>;

/** The outcome of one rule; `detail` is a sentence for people, `inputs` the same for programs. */
export interface VerificationCheck {
  readonly rule: VerificationRule;
  readonly passed: boolean;
  readonly detail: string;
  readonly inputs: CheckInputs;
}

/** The device, product and time that a license file is checked for. */
export interface Circumstances {
  /** Epoch milliseconds. */
  readonly now: number;
  /** This machine, `sha256:<64 hex>`. A file that is bound to a machine needs it. */
  readonly fingerprint?: string | undefined;
  /** Accepts a file that is bound to a machine without a `fingerprint` to compare. A fingerprint that is given counts. */
  readonly anyMachine?: boolean | undefined;
  /** The product's slug. */
  readonly product?: string | undefined;
  readonly feature?: string | undefined;
}

/** How far a machine's clock may lag behind the server's: 5 minutes (contract section 3). */
const CLOCK_TOLERANCE_MS = 5 * 60_000;

/**
 * How far the clock may fall behind the last time it was seen: 24 hours. Corrections by NTP and a hardware clock in
 * local time stay below that.
 */
const ROLLBACK_TOLERANCE_MS = 24 * 3_600_000;

/**
 * Checks a payload with a valid signature. Rules that `circumstances` does not need are left out.
 *
 * @param lastSeen the latest time the clock has shown, in epoch milliseconds; null if none is known, undefined if
 *   it is not kept
 */
export function checkRules(
  payload: LicenseFilePayload,
  circumstances: Circumstances,
  lastSeen: number | null | undefined,
): VerificationCheck[] {
  const { now, product, feature } = circumstances;
  const { meta, license } = payload;
  const clock = new Date(now).toISOString();
  const checks: VerificationCheck[] = [
    check(
      'clock',
      now >= Date.parse(meta.issued) - CLOCK_TOLERANCE_MS,
      `Issued ${meta.issued}; the clock reads ${clock}.`,
      { issued: meta.issued, now: clock },
    ),
    ...(lastSeen === undefined ? [] : [historyCheck(now, lastSeen)]),
    check(
      'license_term',
      now < Date.parse(license.grace_ends_at),
      `The license expires at ${license.expires_at}; its grace period ends at ${license.grace_ends_at}.`,
      { expires_at: license.expires_at, grace_ends_at: license.grace_ends_at, now: clock },
    ),
    check('file_term', now < Date.parse(meta.expiry), `The file expires at ${meta.expiry}.`, {
      file_expires_at: meta.expiry,
      now: clock,
    }),
    check(
      'not_revoked',
      license.state !== 'revoked',
      `The license was ${license.state} when the file was issued.`,
      { state: license.state },
    ),
    machineCheck(payload, circumstances),
  ];
  if (product !== undefined) {
    checks.push(
      check(
        'product',
        license.product === product,
        `The license covers ${license.product}; requested: ${product}.`,
        { licensed: license.product, asked: product },
      ),
    );
  }
  if (feature !== undefined) {
    const included = license.features.join(', ') || 'none';
    checks.push(
      check('feature', license.features.includes(feature), `Included: ${included}; requested: ${feature}.`, {
        included: license.features,
        asked: feature,
      }),
    );
  }
  return checks;
}

function historyCheck(now: number, lastSeen: number | null): VerificationCheck {
  const clock = new Date(now).toISOString();
  if (lastSeen === null) {
    const detail = `The clock reads ${clock}; no earlier time is on record.`;
    return check('clock_history', true, detail, { last_seen: null, now: clock });
  }
  const seen = new Date(lastSeen).toISOString();
  const detail = `The clock reads ${clock}; it has read ${seen} before.`;
  const isPlausible = now >= lastSeen - ROLLBACK_TOLERANCE_MS;
  return check('clock_history', isPlausible, detail, { last_seen: seen, now: clock });
}

/** A bound file needs the same fingerprint. Without one the file is refused, unless the caller accepts any machine. */
function machineCheck(
  { machine }: LicenseFilePayload,
  { fingerprint, anyMachine = false }: Circumstances,
): VerificationCheck {
  const inputs = { bound_to: machine?.fingerprint ?? null, machine_fingerprint: fingerprint ?? null };
  if (machine === null) return check('machine', true, 'The file is not bound to a device.', inputs);
  const { fingerprint: bound } = machine;
  if (fingerprint !== undefined) {
    const same = bound.toLowerCase() === fingerprint.toLowerCase();
    return check('machine', same, `Bound to ${bound}; this device is ${fingerprint}.`, inputs);
  }
  if (anyMachine)
    return check('machine', true, `Bound to ${bound}; not compared, because any device is accepted.`, inputs);
  const detail = `Bound to ${bound}; not compared. Pass \`fingerprint\`, or \`anyMachine: true\` to skip this check.`;
  return check('machine', false, detail, inputs);
}

function check(
  rule: VerificationRule,
  passed: boolean,
  detail: string,
  inputs: CheckInputs,
): VerificationCheck {
  return { rule, passed, detail, inputs };
}
