// What the service knows today of a license whose file somebody holds, and what that makes of the file.
import type { License, LicenseStore } from '#server/features/licenses/license-store.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { LicenseFileCheck } from '#server/features/signing/license-file-service.ts';
import type { RuleInputs, RuleOutcome, ValidationReason } from './activation-contract.ts';
import type { Activation, ActivationStore } from './activation-store.ts';
import type { FileRuleName } from './offline-desk-contract.ts';

export interface Today {
  /** Null: signed by us and yet unknown, as an older database was restored. Nothing vouches for it any more. */
  license: License | null;
  /** The activation of the file's device; null if that is not active, undefined if the file is bound to none. */
  activation: Activation | null | undefined;
  /** Epoch milliseconds. */
  now: number;
}

interface TodayRule {
  rule: FileRuleName;
  reason: ValidationReason;
  outcome(today: Today): RuleOutcome;
  inputs(today: Today): RuleInputs;
}

function outcomeOf(isMet: boolean | null | undefined): RuleOutcome {
  if (isMet === null || isMet === undefined) return 'not_asked';
  return isMet ? 'passed' : 'failed';
}

function isActive(activation: Today['activation']): boolean | null {
  return activation === undefined ? null : activation !== null;
}

/** The gravest first, as the first one that fails gives the reason. */
export const TODAY_RULES: readonly TodayRule[] = [
  {
    rule: 'known_here',
    reason: 'license_revoked',
    outcome: ({ license }) => outcomeOf(license !== null),
    inputs: ({ license }) => ({ license_id: license?.id ?? null }),
  },
  {
    rule: 'not_revoked_here',
    reason: 'license_revoked',
    outcome: ({ license }) => outcomeOf(license && license.revokedAt === null),
    inputs: ({ license }) => ({ revoked_at: toTimestampOrNull(license?.revokedAt ?? null) }),
  },
  {
    rule: 'in_term_here',
    reason: 'license_expired',
    outcome: ({ license, now }) => outcomeOf(license && now < license.graceEndsAt),
    inputs: ({ license, now }) => ({
      expires_at: toTimestampOrNull(license?.expiresAt ?? null),
      grace_ends_at: toTimestampOrNull(license?.graceEndsAt ?? null),
      now: toTimestamp(now),
    }),
  },
  {
    rule: 'device_here',
    reason: 'machine_not_activated',
    outcome: ({ license, activation }) => outcomeOf(license && isActive(activation)),
    inputs: ({ activation }) => ({ is_active: isActive(activation) }),
  },
];

/** Reasons that a new file would not mend. */
const FINAL: ReadonlySet<ValidationReason> = new Set([
  'signature_invalid',
  'unknown_key_id',
  'key_distrusted',
  'machine_mismatch',
  'product_mismatch',
  'not_yet_valid',
]);

/** Whether nothing that is known today could make the file good. */
export function isHopeless({ license, reason }: LicenseFileCheck): boolean {
  return license === null || (reason !== null && FINAL.has(reason));
}

/**
 * Why the file cannot be relied on; null if it can. What is known today outranks what the file says of its license:
 * of a license that is good, a file that says otherwise has only run out.
 */
export function fileReason(file: LicenseFileCheck, today: Today): ValidationReason | null {
  if (isHopeless(file)) return file.reason;
  const failed = TODAY_RULES.find(({ outcome }) => outcome(today) === 'failed');
  if (failed) return failed.reason;
  return file.reason === null ? null : 'file_expired';
}

interface LookupNeeds {
  licenses: Pick<LicenseStore, 'find'>;
  activations: Pick<ActivationStore, 'findLive'>;
}

export function createTodayLookup({ licenses, activations }: LookupNeeds) {
  return async ({ license: signed, machine }: LicenseFileCheck, now: number): Promise<Today> => {
    const license = signed && (await licenses.find({ key: signed.license_key }));
    const activation =
      license && machine ? await activations.findLive(license.id, machine.fingerprint) : undefined;
    return { license, activation, now };
  };
}
