// Translates a call to `/authorize/` into a question for the verdict.
import type { VerdictQuestion } from '#server/rules/license-verdict.ts';
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

export function authorizationQuestion(facts: AuthorizationFacts): VerdictQuestion {
  const { license, features, now, product, fingerprint, feature } = facts;
  const { revokedAt, graceEndsAt, licensing } = license;
  return {
    license: { revokedAt, graceEndsAt, product: license.product, features, licensing },
    now,
    product,
    isDeviceActive: fingerprint === undefined ? undefined : license.activationId !== null,
    feature,
  };
}
