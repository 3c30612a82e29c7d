// Whether a license covers what is asked of it: one set of rules for every endpoint that decides it.
import type { RuleOutcome, ValidationReason } from '#server/features/activations/activation-contract.ts';
import type { LicenseFileCheck } from '#server/features/signing/license-file-service.ts';

export interface VerdictQuestion {
  /** Null: we signed its file, but an older database has been restored, so nothing vouches for the license any more. */
  license: {
    readonly revokedAt: number | null;
    readonly graceEndsAt: number;
    readonly product: string;
    readonly features?: readonly string[];
  } | null;
  /** Epoch milliseconds, like all times here. */
  now: number;
  product?: string | undefined;
  /** Undefined if the question names no device. */
  isDeviceActive?: boolean | undefined;
  feature?: string | undefined;
}

interface Rule {
  reason: ValidationReason;
  /** Undefined if the rule does not apply to the question. */
  isMet(question: VerdictQuestion): boolean | undefined;
}

const RULES = {
  known: { reason: 'license_revoked', isMet: ({ license }) => license !== null },
  not_revoked: {
    reason: 'license_revoked',
    isMet: ({ license }) => license?.revokedAt === null,
  },
  in_term: {
    reason: 'license_expired',
    isMet: ({ license, now }) => license !== null && now < license.graceEndsAt,
  },
  product: {
    reason: 'product_mismatch',
    isMet: ({ license, product }) => (product === undefined ? undefined : license?.product === product),
  },
  device: { reason: 'machine_not_activated', isMet: ({ isDeviceActive }) => isDeviceActive },
  feature: {
    reason: 'feature_not_included',
    isMet: ({ license, feature }) =>
      feature === undefined ? undefined : (license?.features?.includes(feature) ?? false),
  },
} as const satisfies Record<string, Rule>;

export type LicenseRule = keyof typeof RULES;

/** Which rules each kind of question applies. The first one that fails gives the reason, so the order is visible to clients. */
export const RULES_FOR = {
  activation: ['not_revoked', 'in_term', 'product'],
  authorization: ['not_revoked', 'in_term', 'product', 'device', 'feature'],
  /** A token is for one product, whatever has become of its license. */
  token: ['product', 'not_revoked', 'in_term'],
  signing: ['not_revoked', 'in_term'],
  license_file: ['known', 'not_revoked', 'in_term', 'device'],
  /** Changing a license, and issuing tokens and certificates for it: an expired license can be renewed. */
  change: ['not_revoked'],
} as const satisfies Record<string, readonly LicenseRule[]>;

type ReasonOf<Name extends LicenseRule> = (typeof RULES)[Name]['reason'];

/** Why the license does not cover what was asked; null if it does. */
export function licenseVerdict<Name extends LicenseRule>(
  rules: readonly Name[],
  question: VerdictQuestion,
): ReasonOf<Name> | null {
  for (const name of rules) if (ruleOutcome(name, question) === 'failed') return RULES[name].reason;
  return null;
}

/** How one rule comes out by itself, whatever the others say. Only `known` can fail for a license that is unknown. */
export function ruleOutcome(name: LicenseRule, question: VerdictQuestion): RuleOutcome {
  if (question.license === null && name !== 'known') return 'not_asked';
  const rule: Rule = RULES[name];
  const isMet = rule.isMet(question);
  if (isMet === undefined) return 'not_asked';
  return isMet ? 'passed' : 'failed';
}

/** Reasons that remain with a new license file. */
const FINAL: ReadonlySet<ValidationReason> = new Set([
  'signature_invalid',
  'unknown_key_id',
  'key_distrusted',
  'machine_mismatch',
  'product_mismatch',
  'not_yet_valid',
]);

/** What the check of the file itself found. */
type FileFindings = Pick<LicenseFileCheck, 'reason'> & { license: object | null };

/** Whether nothing that is known of the license could make the file good. */
export function isHopeless({ license, reason }: FileFindings): boolean {
  return license === null || (reason !== null && FINAL.has(reason));
}

/**
 * Why a license file cannot be relied on; null if it can. What is known of the license today outranks what the file
 * says: if the license is good, a file that says otherwise has only run out.
 */
export function licenseFileVerdict(file: FileFindings, today: VerdictQuestion): ValidationReason | null {
  if (isHopeless(file)) return file.reason;
  const reason = licenseVerdict(RULES_FOR.license_file, today);
  return reason ?? (file.reason === null ? null : 'file_expired');
}
