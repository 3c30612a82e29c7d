// Checks the requests of the two most frequent calls without the schema, which takes longer than the answer. Anything
// unusual is left to the schema, whose messages clients get.
import type { FastParsers } from '#server/platform/route.ts';
import type { authorizationContract } from './authorization-token-contract.ts';

const SLUG = /^[a-z0-9-]{1,64}$/u;
const FINGERPRINT = /^sha256:[0-9a-f]{64}$/u;
const MAX_KEY_LENGTH = 64;

interface Fields {
  token?: unknown;
  license_key?: unknown;
  product_slug?: unknown;
  machine_fingerprint?: unknown;
  feature?: unknown;
}

function fieldsOf(input: unknown): Fields | undefined {
  return typeof input === 'object' && input !== null && !Array.isArray(input) ? input : undefined;
}

/** Whether the field is missing or matches. */
function mayBe(pattern: RegExp, value: unknown): value is string | undefined {
  return value === undefined || (typeof value === 'string' && pattern.test(value));
}

export const authorizationParsers: FastParsers<typeof authorizationContract> = {
  authorizeToken(input) {
    const { token, product_slug } = fieldsOf(input) ?? {};
    return typeof token === 'string' && mayBe(SLUG, product_slug) ? { token, product_slug } : undefined;
  },
  authorize(input) {
    const { license_key, product_slug, machine_fingerprint, feature } = fieldsOf(input) ?? {};
    return typeof license_key === 'string' &&
      license_key.length <= MAX_KEY_LENGTH &&
      mayBe(SLUG, product_slug) &&
      mayBe(FINGERPRINT, machine_fingerprint) &&
      feature === undefined
      ? { license_key, product_slug, machine_fingerprint }
      : undefined;
  },
};
