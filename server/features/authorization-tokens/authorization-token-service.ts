// Issues and revokes authorization tokens: one active token per license and product, shown once.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { ChangeLicense } from '#server/features/licenses/license-change.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import { byRef, requireLicense } from '#server/rules/license-reference.ts';
import { refuseRevoked } from '#server/rules/license-refusals.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { createSecretToken } from '#server/platform/secret-token.ts';
import type {
  AuthorizationTokenObject,
  authorizationTokenAdminContract,
  TokenState,
} from './authorization-token-contract.ts';
import type { AuthorizationToken, AuthorizationTokenStore } from './authorization-token-store.ts';

interface Needs {
  tokens: AuthorizationTokenStore;
  licenses: Pick<LicenseStore, 'find'>;
  changeLicense: ChangeLicense;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
  defaultProduct: string;
}

/** The state at `now`: an active token past its expiry is expired. */
function tokenState(token: AuthorizationToken, now: number): TokenState {
  return token.status === 'active' && token.expiresAt <= now ? 'expired' : token.status;
}

function toTokenObject(token: AuthorizationToken, now: number): AuthorizationTokenObject {
  return {
    id: token.id,
    name: token.name,
    license_id: token.licenseId,
    product: token.product,
    state: tokenState(token, now),
    last_four: token.lastFour,
    created_at: toTimestamp(token.createdAt),
    expires_at: toTimestamp(token.expiresAt),
    ended_at: toTimestampOrNull(token.endedAt),
    last_used_at: toTimestampOrNull(token.lastUsedAt),
  };
}

export function createAuthorizationTokenService(needs: Needs) {
  const { tokens, licenses, audit, changeLicense, transaction, clock } = needs;

  function requireToken(token: AuthorizationToken | null, id: number): AuthorizationToken {
    if (!token) throw new ApiError('token_not_found', `authorization token ${id} not found`);
    return token;
  }

  /** Ends the token that the new one replaces. */
  async function endPredecessor(
    license: License,
    product: string,
    now: number,
  ): Promise<AuthorizationToken | null> {
    const previous = await tokens.findActive(license.id, product);
    if (!previous) return null;
    const status = previous.expiresAt <= now ? 'expired' : 'replaced';
    await tokens.end(previous.id, status, now);
    return { ...previous, status, endedAt: now };
  }

  return {
    issue: (request: RequestOf<typeof authorizationTokenAdminContract.issueToken>, call: Call) =>
      // The license lock serializes token issues for one license.
      changeLicense(byRef(request.license), async (license) => {
        const now = clock.now();
        refuseRevoked(license, now);
        const product = request.product ?? needs.defaultProduct;
        const replaced = await endPredecessor(license, product, now);
        const secret = createSecretToken('ldt_');
        const token = await tokens.insert({
          licenseId: license.id,
          product,
          name: request.name ?? null,
          tokenHash: secret.hash,
          lastFour: secret.lastFour,
          status: 'active',
          createdAt: now,
          expiresAt: now + request.days * DAY_MS,
          endedAt: null,
          lastUsedAt: null,
        });
        const issued = toTokenObject(token, now);
        const before = replaced && toTokenObject(replaced, now);
        await audit.record(call, 'token.issued', `token:${token.id}`, before, issued);
        return { token: secret.plaintext, authorization_token: issued, replaced: before };
      }),

    async list(request: RequestOf<typeof authorizationTokenAdminContract.listTokens>) {
      const { license, cursor, limit } = request;
      const now = clock.now();
      const licenseId =
        license === undefined ? undefined : requireLicense(await licenses.find(byRef(license))).id;
      const rows = await tokens.list({ licenseId, before: idFromCursor(cursor), limit });
      return toPage(rows, limit, (token) => ({ ...toTokenObject(token, now), holder: token.holder }));
    },

    async show(id: number) {
      return { authorization_token: toTokenObject(requireToken(await tokens.find(id), id), clock.now()) };
    },

    /** Revoking a token that has already ended changes nothing. */
    revoke: (id: number, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const token = requireToken(await tokens.findForChange(id), id);
        if (token.status !== 'active') return { authorization_token: toTokenObject(token, now) };
        await tokens.end(id, 'revoked', now);
        const revoked = toTokenObject({ ...token, status: 'revoked', endedAt: now }, now);
        await audit.record(call, 'token.revoked', `token:${id}`, toTokenObject(token, now), revoked);
        return { authorization_token: revoked };
      }),
  };
}

export type AuthorizationTokenService = ReturnType<typeof createAuthorizationTokenService>;
