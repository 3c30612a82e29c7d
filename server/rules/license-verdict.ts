// Decides whether a license covers a request: one set of rules for all endpoints.
import type { Licensing } from './floating-terms.ts';

export const VALIDATION_REASONS = [
  'signature_invalid',
  'unknown_key_id',
  'key_distrusted',
  'file_expired',
  'not_yet_valid',
  'license_expired',
  'license_revoked',
  'product_mismatch',
  'machine_mismatch',
  'machine_not_activated',
  'feature_not_included',
] as const;

/** Why a license, or its file, is not valid. */
export type ValidationReason = (typeof VALIDATION_REASONS)[number];

export const RULE_OUTCOMES = ['passed', 'failed', 'not_asked'] as const;
export type RuleOutcome = (typeof RULE_OUTCOMES)[number];

export interface VerdictQuestion {
  /** Null if this installation signed the file but lost the license through a restore of an older database. */
  license: {
    readonly revokedAt: number | null;
    readonly graceEndsAt: number;
    readonly product: string;
    readonly features?: readonly string[];
    readonly licensing?: Licensing;
  } | null;
  /** Epoch milliseconds, like all times here. */
  now: number;
  product?: string | undefined;
  /** Undefined if the question is not about a device. */
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
  device: {
    reason: 'machine_not_activated',
    // A license that was upgraded to a floating plan keeps its activations, but leases take its seats.
    isMet: ({ license, isDeviceActive }) => isDeviceActive && license?.licensing !== 'floating',
  },
  feature: {
    reason: 'feature_not_included',
    isMet: ({ license, feature }) =>
      feature === undefined ? undefined : (license?.features?.includes(feature) ?? false),
  },
} as const satisfies Record<string, Rule>;

export type LicenseRule = keyof typeof RULES;

/** The rules for each kind of question. The first one that fails gives the reason, so clients can see the order. */
export const RULES_FOR = {
  activation: ['not_revoked', 'in_term', 'product'],
  authorization: ['not_revoked', 'in_term', 'product', 'device', 'feature'],
  /** The product comes first: a token is for one product, regardless of the state of its license. */
  token: ['product', 'not_revoked', 'in_term'],
  lease: ['not_revoked', 'in_term', 'product', 'feature'],
  signing: ['not_revoked', 'in_term'],
  license_file: ['known', 'not_revoked', 'in_term', 'device'],
  /** Changes, and issuing tokens and certificates: an expired license can be renewed. */
  change: ['not_revoked'],
} as const satisfies Record<string, readonly LicenseRule[]>;

type ReasonOf<Name extends LicenseRule> = (typeof RULES)[Name]['reason'];

/** Why the license does not cover the request; null if it does. */
export function licenseVerdict<Name extends LicenseRule>(
  rules: readonly Name[],
  question: VerdictQuestion,
): ReasonOf<Name> | null {
  for (const name of rules) if (ruleOutcome(name, question) === 'failed') return RULES[name].reason;
  return null;
}

/** The outcome of a single rule, independent of the others. For an unknown license, only `known` can fail. */
export function ruleOutcome(name: LicenseRule, question: VerdictQuestion): RuleOutcome {
  if (question.license === null && name !== 'known') return 'not_asked';
  const rule: Rule = RULES[name];
  const isMet = rule.isMet(question);
  if (isMet === undefined) return 'not_asked';
  return isMet ? 'passed' : 'failed';
}

/** Reasons that a new license file would not change. */
const FINAL: ReadonlySet<ValidationReason> = new Set([
  'signature_invalid',
  'unknown_key_id',
  'key_distrusted',
  'machine_mismatch',
  'product_mismatch',
]);

/** The result of checking the file itself. */
interface FileFindings {
  readonly license: object | null;
  readonly reason: ValidationReason | null;
}

/** Whether the file is invalid regardless of the license's current state. */
export function isInvalidInAnyState({ license, reason }: FileFindings): boolean {
  return license === null || (reason !== null && FINAL.has(reason));
}

/**
 * Why a license file is not valid; null if it is. The license's current state takes precedence over the file's: if the
 * license is valid, the file is merely outdated, or was signed while the clock of the server was ahead.
 */
export function licenseFileVerdict(file: FileFindings, today: VerdictQuestion): ValidationReason | null {
  if (isInvalidInAnyState(file)) return file.reason;
  const reason = licenseVerdict(RULES_FOR.license_file, today);
  if (reason !== null || file.reason === null) return reason;
  return file.reason === 'not_yet_valid' ? 'not_yet_valid' : 'file_expired';
}
