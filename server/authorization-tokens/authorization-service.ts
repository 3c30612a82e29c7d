// Says whether a token, a license, a device may use a product. The busiest code of the service: hash, look up, compare.
import type { LicenseMoments, LicenseState } from '../licenses/license-lifecycle.ts';
import type { Clock } from '../platform/clock.ts';
import type { ReplyOf, RequestOf } from '../platform/endpoint.ts';
import { ApiError } from '../platform/errors.ts';
import { hashSecret } from '../platform/secret-token.ts';
import { createTaggedCache } from '../platform/tagged-cache.ts';
import type { authorizationContract } from './authorization-token-contract.ts';
import type { AuthorizationLookupStore, LicenseFacts, TokenFacts } from './authorization-lookup-store.ts';
import type { AuthorizationUsage } from './authorization-usage.ts';

interface Needs {
  lookup: AuthorizationLookupStore;
  usage: Pick<AuthorizationUsage, 'count' | 'touch'>;
  clock: Clock;
  defaultProduct: string;
  byKey(licenseKey: string): { key: string };
  licenseNotFound(): ApiError;
  licenseState(license: LicenseMoments, now: number): LicenseState;
  /** How many tokens, licenses and devices are kept in memory each; 0 where other servers write the same database. */
  cached: number;
}

type TokenReply = ReplyOf<typeof authorizationContract.authorizeToken>;
type AuthorizeReply = ReplyOf<typeof authorizationContract.authorize>;

interface DeviceFacts {
  licenseId: number;
}

function tokenReason(token: TokenFacts, product: string, now: number): TokenReply['reason'] {
  if (token.product !== product) return 'product_mismatch';
  if (token.licenseRevokedAt !== null) return 'license_revoked';
  return now >= token.licenseGraceEndsAt ? 'license_expired' : undefined;
}

export function createAuthorizationService(needs: Needs) {
  const { lookup, usage, clock, cached: max } = needs;
  const tokens = createTaggedCache<TokenFacts>({
    max,
    tagOf: (token) => token.licenseId,
    load: lookup.findToken,
  });
  const licenses = createTaggedCache<LicenseFacts>({
    max,
    tagOf: (facts) => facts.licenseId,
    load: lookup.findLicense,
  });
  const devices = createTaggedCache<DeviceFacts>({
    max,
    tagOf: (device) => device.licenseId,
    load: async (key) => ((await lookup.findDevice(key)) ? { licenseId: Number.parseInt(key, 10) } : null),
  });
  const caches = [tokens, licenses, devices];

  async function licenseReason(
    license: LicenseFacts,
    request: RequestOf<typeof authorizationContract.authorize>,
    product: string,
    state: LicenseState,
  ): Promise<AuthorizeReply['reason']> {
    if (state === 'revoked') return 'license_revoked';
    if (state === 'expired') return 'license_expired';
    if (license.licenseProduct !== product) return 'product_mismatch';
    const fingerprint = request.machine_fingerprint;
    if (fingerprint !== undefined && !(await devices.read(`${license.licenseId} ${fingerprint}`))) {
      return 'machine_not_activated';
    }
    const { feature } = request;
    return feature !== undefined && !license.features.includes(feature) ? 'feature_not_included' : null;
  }

  return {
    async authorizeToken(
      request: RequestOf<typeof authorizationContract.authorizeToken>,
    ): Promise<TokenReply> {
      if (!request.token) throw new ApiError('missing_token', 'the request carries no token');
      const now = clock.now();
      const product = request.product_slug ?? needs.defaultProduct;
      const token = await tokens.read(hashSecret(request.token));
      if (!token || token.status !== 'active' || token.expiresAt <= now) {
        // Not under the product that was asked for: strangers could fill the table with names of their own.
        usage.count(needs.defaultProduct, false);
        throw new ApiError('token_invalid', 'the token is invalid, expired, or revoked');
      }
      const reason = tokenReason(token, product, now);
      usage.count(token.product, reason === undefined);
      usage.touch(token, now);
      return {
        valid: reason === undefined,
        ...(reason === undefined ? {} : { reason }),
        license_id: token.licenseId,
        product_slug: token.product,
        expires_at: token.expiresAtTimestamp,
      };
    },

    async authorize(request: RequestOf<typeof authorizationContract.authorize>): Promise<AuthorizeReply> {
      const license = await licenses.read(needs.byKey(request.license_key).key);
      if (!license) throw needs.licenseNotFound();
      const now = clock.now();
      const product = request.product_slug ?? needs.defaultProduct;
      const state = needs.licenseState(license, now);
      const reason = await licenseReason(license, request, product, state);
      usage.count(license.licenseProduct, reason === null);
      return {
        authorized: reason === null,
        reason,
        license_id: license.licenseId,
        product_slug: license.licenseProduct,
        plan: license.plan,
        state,
        features: license.features,
        expires_at: license.expiresAtTimestamp,
      };
    },

    /** What was read of this license no longer holds: it, a token of it or a device of it has changed. */
    forgetLicense(licenseId: number): void {
      for (const cache of caches) cache.drop(licenseId);
    },
    /** A plan has changed, and with it what any license grants. */
    forgetAll(): void {
      for (const cache of caches) cache.dropAll();
    },
  };
}

export type AuthorizationService = ReturnType<typeof createAuthorizationService>;
