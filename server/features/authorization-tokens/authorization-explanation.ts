// Explains the outcome of every rule of an authorization to an administrator, including those after the first failure.
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import { hasFreeSeat } from '#server/rules/license-refusals.ts';
import {
  licenseVerdict,
  RULES_FOR,
  ruleOutcome,
  type VerdictQuestion,
} from '#server/rules/license-verdict.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { RuleInputs } from '#server/features/activations/activation-contract.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { AuthorizationLookupStore } from './authorization-lookup-store.ts';
import { type AuthorizationFacts, authorizationQuestion } from './authorization-question.ts';
import type { authorizationAdminContract, Remedy } from './authorization-token-contract.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  lookup: Pick<AuthorizationLookupStore, 'findLicense'>;
  clock: Clock;
  defaultProduct: string;
}

type Request = RequestOf<typeof authorizationAdminContract.explainAuthorization>;
type Reply = ReplyOf<typeof authorizationAdminContract.explainAuthorization>;

type Rule = (typeof RULES_FOR.authorization)[number];

interface Explained {
  /** The remedy if the rule fails. */
  remedy: Remedy;
  /** The values that the rule compares. */
  inputs(facts: AuthorizationFacts): RuleInputs;
}

const EXPLAINED: Record<Rule, Explained> = {
  not_revoked: {
    remedy: 'new_license',
    inputs: ({ license }) => ({ revoked_at: toTimestampOrNull(license.revokedAt) }),
  },
  in_term: {
    remedy: 'renew',
    inputs: ({ license, now }) => ({
      expires_at: toTimestamp(license.expiresAt),
      grace_ends_at: toTimestamp(license.graceEndsAt),
      now: toTimestamp(now),
    }),
  },
  product: {
    remedy: 'other_product',
    inputs: ({ license, product }) => ({ licensed: license.product, asked: product }),
  },
  device: {
    remedy: 'activate',
    inputs: ({ license, fingerprint = null }) => ({
      machine_fingerprint: fingerprint,
      is_active: license.activationId !== null,
      ...(license.licensing === 'floating' && { licensing: license.licensing }),
    }),
  },
  feature: {
    remedy: 'upgrade',
    inputs: ({ features, feature = null }) => ({ included: [...features], asked: feature }),
  },
};

/** Devices of a floating license cannot be activated. */
const isFloating = ({ license }: AuthorizationFacts) => license.licensing === 'floating';

export function createAuthorizationExplanation(needs: Needs) {
  function explainRules(facts: AuthorizationFacts, question: VerdictQuestion): Reply['rules'] {
    return RULES_FOR.authorization.map((rule) => {
      const { remedy, inputs } = EXPLAINED[rule];
      const outcome = ruleOutcome(rule, question);
      const canHelp = outcome === 'failed' && !(remedy === 'activate' && isFloating(facts));
      return { rule, outcome, inputs: inputs(facts), remedy: canHelp ? remedy : null };
    });
  }

  /** Whether a seat is available for the device. An active device already has one. */
  function explainSeat(license: License, facts: AuthorizationFacts) {
    const { maxActivations, activationCount } = license;
    const hasSeat = facts.license.activationId !== null || hasFreeSeat(license);
    const isAsked = facts.fingerprint !== undefined && !isFloating(facts);
    const outcome = isAsked ? (hasSeat ? 'passed' : 'failed') : 'not_asked';
    return {
      rule: 'seat',
      outcome,
      inputs: { activation_count: activationCount, max_activations: maxActivations },
      remedy: outcome === 'failed' ? 'release_device' : null,
    } as const;
  }

  /** Uses the same look-up as `/authorize/`, without counting the call. */
  return async (request: Request): Promise<Reply> => {
    const { machine_fingerprint: fingerprint, feature } = request;
    const license = requireLicense(await needs.licenses.find(byRef(request.license)));
    const question = { licenseKey: license.licenseKey, machineFingerprint: fingerprint };
    const found = requireLicense(await needs.lookup.findLicense(question));
    const facts: AuthorizationFacts = {
      license: found,
      features: JSON.parse(found.features) as string[],
      now: needs.clock.now(),
      product: request.product_slug ?? needs.defaultProduct,
      fingerprint,
      feature,
    };
    const verdictQuestion = authorizationQuestion(facts);
    const reason = licenseVerdict(RULES_FOR.authorization, verdictQuestion);
    return {
      authorized: reason === null,
      reason,
      rules: [...explainRules(facts, verdictQuestion), explainSeat(license, facts)],
    };
  };
}

export type AuthorizationExplanation = ReturnType<typeof createAuthorizationExplanation>;
