// Says whether a token, a license, a device may use a product. The busiest code of the service: hash, look up, compare.
import type { LicenseMoments, LicenseState } from '#server/rules/license-lifecycle.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { hashSecret, isSecretToken } from '#server/platform/secret-token.ts';
import type { authorizationContract } from './authorization-token-contract.ts';
import type { AuthorizationLookupStore, TokenFacts } from './authorization-lookup-store.ts';
import { authorizationReason } from './authorization-rules.ts';
import type { AuthorizationUsage } from './authorization-usage.ts';

interface Needs {
  lookup: AuthorizationLookupStore;
  usage: Pick<AuthorizationUsage, 'count' | 'touch'>;
  clock: Clock;
  defaultProduct: string;
  byKey(licenseKey: string): { key: string };
  licenseNotFound(): ApiError;
  licenseState(license: LicenseMoments, now: number): LicenseState;
}

type TokenReply = ReplyOf<typeof authorizationContract.authorizeToken>;
type AuthorizeRequest = RequestOf<typeof authorizationContract.authorize>;
type AuthorizeReply = ReplyOf<typeof authorizationContract.authorize>;

function tokenReason(token: TokenFacts, product: string, now: number): TokenReply['reason'] {
  if (token.product !== product) return 'product_mismatch';
  if (token.licenseRevokedAt !== null) return 'license_revoked';
  return now >= token.licenseGraceEndsAt ? 'license_expired' : undefined;
}

export function createAuthorizationService(needs: Needs) {
  const { lookup, usage, clock } = needs;

  return {
    async authorizeToken(
      request: RequestOf<typeof authorizationContract.authorizeToken>,
    ): Promise<TokenReply> {
      if (!request.token) throw new ApiError('missing_token', 'the request carries no token');
      const product = request.product_slug ?? needs.defaultProduct;
      const token = isSecretToken('ldt_', request.token)
        ? await lookup.findToken(hashSecret(request.token))
        : null;
      const now = clock.now();
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
        expires_at: toTimestamp(token.expiresAt),
      };
    },

    async authorize(request: AuthorizeRequest): Promise<AuthorizeReply> {
      const { machine_fingerprint: fingerprint, feature } = request;
      const product = request.product_slug ?? needs.defaultProduct;
      const question = { licenseKey: needs.byKey(request.license_key).key, machineFingerprint: fingerprint };
      const license = await lookup.findLicense(question);
      if (!license) throw needs.licenseNotFound();
      const now = clock.now();
      const features = JSON.parse(license.features) as string[];
      const reason = authorizationReason({ license, features, now, product, fingerprint, feature });
      usage.count(license.product, reason === null);
      return {
        authorized: reason === null,
        reason,
        license_id: license.licenseId,
        product_slug: license.product,
        plan: license.plan,
        state: needs.licenseState(license, now),
        features,
        expires_at: toTimestamp(license.expiresAt),
      };
    },
  };
}

export type AuthorizationService = ReturnType<typeof createAuthorizationService>;
