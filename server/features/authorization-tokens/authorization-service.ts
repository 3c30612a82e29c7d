// Decides whether a token, license or device may use a product. The most frequently run code of the service: hash, look
// up, compare.
import { licenseState } from '#server/rules/license-lifecycle.ts';
import { requireLicense } from '#server/rules/license-reference.ts';
import { licenseVerdict, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { DeviceSightings } from '#server/features/activations/device-sightings.ts';
import type { DenialReason } from '#server/features/denied-calls/denial-reason-contract.ts';
import type { DeniedCallLog } from '#server/features/denied-calls/denied-call-log.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { hashSecret, isSecretToken } from '#server/platform/secret-token.ts';
import type { authorizationContract } from './authorization-token-contract.ts';
import type { AuthorizationLookup } from './authorization-lookup.ts';
import type { LicenseFacts, TokenFacts } from './authorization-lookup-store.ts';
import { authorizationQuestion } from './authorization-question.ts';
import type { AuthorizationUsage } from './authorization-usage.ts';

interface Needs {
  lookup: AuthorizationLookup;
  usage: Pick<AuthorizationUsage, 'count' | 'touch'>;
  denials: Pick<DeniedCallLog, 'record'>;
  sightings: Pick<DeviceSightings, 'note'>;
  clock: Clock;
  defaultProduct: string;
}

/** Where a denied call came from. */
type Caller = Pick<Call, 'address'>;

type TokenReply = ReplyOf<typeof authorizationContract.authorizeToken>;
type AuthorizeRequest = RequestOf<typeof authorizationContract.authorize>;
type AuthorizeReply = ReplyOf<typeof authorizationContract.authorize>;

function tokenReason(token: TokenFacts, product: string, now: number) {
  const license = {
    revokedAt: token.licenseRevokedAt,
    graceEndsAt: token.licenseGraceEndsAt,
    // A token can be for a different product than its license.
    product: token.product,
  };
  return licenseVerdict(RULES_FOR.token, { license, product, now }) ?? undefined;
}

export function createAuthorizationService(needs: Needs) {
  const { lookup, usage, denials, sightings, clock } = needs;

  function denyToken(
    { licenseId }: TokenFacts,
    product: string,
    errorCode: DenialReason,
    caller: Caller,
  ): void {
    denials.record({ licenseId, call: 'authorize_token', errorCode, product, address: caller.address });
  }

  function answerToken(token: TokenFacts | null, product: string, caller: Caller): TokenReply {
    const now = clock.now();
    if (!token || token.status !== 'active' || token.expiresAt <= now) {
      // Not counted under the requested product: unauthenticated callers could fill the table with made-up names.
      usage.count(needs.defaultProduct, false, now);
      if (token) denyToken(token, product, 'token_invalid', caller);
      throw new ApiError('token_invalid', 'the token is invalid, expired, or revoked');
    }
    const reason = tokenReason(token, product, now);
    usage.count(token.product, reason === undefined, now);
    usage.touch(token, now);
    if (reason !== undefined) denyToken(token, product, reason, caller);
    return {
      valid: reason === undefined,
      ...(reason === undefined ? {} : { reason }),
      license_id: token.licenseId,
      product_slug: token.product,
      expires_at: toTimestamp(token.expiresAt),
    };
  }

  function answerLicense(
    found: LicenseFacts | null,
    request: AuthorizeRequest,
    caller: Caller,
  ): AuthorizeReply {
    const license = requireLicense(found);
    const { machine_fingerprint: fingerprint, feature } = request;
    const product = request.product_slug ?? needs.defaultProduct;
    const now = clock.now();
    const features = JSON.parse(license.features) as string[];
    const facts = { license, features, now, product, fingerprint, feature };
    const reason = licenseVerdict(RULES_FOR.authorization, authorizationQuestion(facts));
    usage.count(license.product, reason === null, now);
    sightings.note(license, now);
    if (reason !== null)
      denials.record({
        licenseId: license.licenseId,
        call: 'authorize',
        errorCode: reason,
        machineFingerprint: fingerprint,
        product,
        feature,
        address: caller.address,
      });
    return {
      authorized: reason === null,
      reason,
      license_id: license.licenseId,
      product_slug: license.product,
      plan: license.plan,
      state: licenseState(license, now),
      features,
      expires_at: toTimestamp(license.expiresAt),
    };
  }

  return {
    /** Answers without a promise if the facts are in memory. */
    authorizeToken(
      request: RequestOf<typeof authorizationContract.authorizeToken>,
      caller: Caller,
    ): TokenReply | Promise<TokenReply> {
      if (!request.token) throw new ApiError('missing_token', 'the request has no authorization token');
      const product = request.product_slug ?? needs.defaultProduct;
      if (!isSecretToken('ldt_', request.token)) return answerToken(null, product, caller);
      const tokenHash = hashSecret(request.token);
      const known = lookup.knownToken(tokenHash);
      if (known) return answerToken(known, product, caller);
      return lookup.findToken(tokenHash).then((token) => answerToken(token, product, caller));
    },

    /** Answers without a promise if the facts are in memory. */
    authorize(request: AuthorizeRequest, caller: Caller): AuthorizeReply | Promise<AuthorizeReply> {
      const { license_key: text, machine_fingerprint: fingerprint } = request;
      const known = lookup.knownLicense(text, fingerprint);
      if (known) return answerLicense(known, request, caller);
      return lookup.findLicense(text, fingerprint).then((license) => answerLicense(license, request, caller));
    },
  };
}

export type AuthorizationService = ReturnType<typeof createAuthorizationService>;
