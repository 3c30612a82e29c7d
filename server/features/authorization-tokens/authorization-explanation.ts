// Tells an administrator how each rule of an authorization comes out, also those behind the first that fails.
import type { License, LicenseReference, LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import type { ApiError } from '#server/wire/errors.ts';
import type { AuthorizationLookupStore } from './authorization-lookup-store.ts';
import { AUTHORIZATION_RULES, type AuthorizationFacts, authorizationReason } from './authorization-rules.ts';
import type { authorizationAdminContract } from './authorization-token-contract.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  lookup: Pick<AuthorizationLookupStore, 'findLicense'>;
  clock: Clock;
  defaultProduct: string;
  byRef(ref: string): LicenseReference;
  licenseNotFound(): ApiError;
  hasFreeSeat(license: License): boolean;
}

type Request = RequestOf<typeof authorizationAdminContract.explainAuthorization>;
type Reply = ReplyOf<typeof authorizationAdminContract.explainAuthorization>;

export function createAuthorizationExplanation(needs: Needs) {
  function explainRules(facts: AuthorizationFacts): Reply['rules'] {
    return AUTHORIZATION_RULES.map(({ rule, outcome, inputs, remedy }) => {
      const came = outcome(facts);
      return { rule, outcome: came, inputs: inputs(facts), remedy: came === 'failed' ? remedy : null };
    });
  }

  /** Whether the device could be activated now, as far as seats go; one that is active has its seat. */
  function explainSeat(license: License, { fingerprint, license: found }: AuthorizationFacts) {
    const { maxActivations, activationCount } = license;
    const hasSeat = found.deviceActive > 0 || needs.hasFreeSeat(license);
    const outcome = fingerprint === undefined ? 'not_asked' : hasSeat ? 'passed' : 'failed';
    return {
      rule: 'seat',
      outcome,
      inputs: { activation_count: activationCount, max_activations: maxActivations },
      remedy: outcome === 'failed' ? 'release_device' : null,
    } as const;
  }

  /** Asks the very look-up that `/authorize/` asks. It is counted nowhere. */
  return async (request: Request): Promise<Reply> => {
    const { machine_fingerprint: fingerprint, feature } = request;
    const license = await needs.licenses.find(needs.byRef(request.license));
    if (!license) throw needs.licenseNotFound();
    const question = { licenseKey: license.licenseKey, machineFingerprint: fingerprint };
    const found = await needs.lookup.findLicense(question);
    if (!found) throw needs.licenseNotFound();
    const facts: AuthorizationFacts = {
      license: found,
      features: JSON.parse(found.features) as string[],
      now: needs.clock.now(),
      product: request.product_slug ?? needs.defaultProduct,
      fingerprint,
      feature,
    };
    const reason = authorizationReason(facts);
    return {
      authorized: reason === null,
      reason,
      rules: [...explainRules(facts), explainSeat(license, facts)],
    };
  };
}

export type AuthorizationExplanation = ReturnType<typeof createAuthorizationExplanation>;
