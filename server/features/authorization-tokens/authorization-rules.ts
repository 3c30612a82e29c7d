// What decides whether a license covers a product, a device and a feature: one list for the verdict and for its explanation.
import type {
  RuleInputs,
  RuleOutcome,
  ValidationReason,
} from '#server/features/activations/activation-contract.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { AuthorizationRuleName, Remedy } from './authorization-token-contract.ts';
import type { LicenseFacts } from './authorization-lookup-store.ts';

export interface AuthorizationFacts {
  license: LicenseFacts;
  features: readonly string[];
  /** Epoch milliseconds. */
  now: number;
  product: string;
  fingerprint: string | undefined;
  feature: string | undefined;
}

interface AuthorizationRule {
  rule: AuthorizationRuleName;
  /** Why a license is refused that fails it. */
  reason: ValidationReason;
  /** What would mend that. */
  remedy: Remedy;
  outcome(facts: AuthorizationFacts): RuleOutcome;
  /** What is compared with what. */
  inputs(facts: AuthorizationFacts): RuleInputs;
}

function outcomeOf(isMet: boolean): RuleOutcome {
  return isMet ? 'passed' : 'failed';
}

/** The gravest first, as the first one that fails gives the reason. */
export const AUTHORIZATION_RULES: readonly AuthorizationRule[] = [
  {
    rule: 'not_revoked',
    reason: 'license_revoked',
    remedy: 'new_license',
    outcome: ({ license }) => outcomeOf(license.revokedAt === null),
    inputs: ({ license }) => ({ revoked_at: toTimestampOrNull(license.revokedAt) }),
  },
  {
    rule: 'in_term',
    reason: 'license_expired',
    remedy: 'renew',
    outcome: ({ license, now }) => outcomeOf(now < license.graceEndsAt),
    inputs: ({ license, now }) => ({
      expires_at: toTimestamp(license.expiresAt),
      grace_ends_at: toTimestamp(license.graceEndsAt),
      now: toTimestamp(now),
    }),
  },
  {
    rule: 'product',
    reason: 'product_mismatch',
    remedy: 'other_product',
    outcome: ({ license, product }) => outcomeOf(license.product === product),
    inputs: ({ license, product }) => ({ licensed: license.product, asked: product }),
  },
  {
    rule: 'device',
    reason: 'machine_not_activated',
    remedy: 'activate',
    outcome: ({ license, fingerprint }) =>
      fingerprint === undefined ? 'not_asked' : outcomeOf(license.deviceActive > 0),
    inputs: ({ license, fingerprint = null }) => ({
      machine_fingerprint: fingerprint,
      is_active: license.deviceActive > 0,
    }),
  },
  {
    rule: 'feature',
    reason: 'feature_not_included',
    remedy: 'upgrade',
    outcome: ({ features, feature }) =>
      feature === undefined ? 'not_asked' : outcomeOf(features.includes(feature)),
    inputs: ({ features, feature = null }) => ({ included: [...features], asked: feature }),
  },
];

/** Why the license does not cover what was asked for; null if it does. */
export function authorizationReason(facts: AuthorizationFacts): ValidationReason | null {
  for (const { outcome, reason } of AUTHORIZATION_RULES) if (outcome(facts) === 'failed') return reason;
  return null;
}
