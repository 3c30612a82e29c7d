// Bearer API tokens: created, rotated and revoked by administrators.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Actor, Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { fixedRule } from '#server/wire/field-rules.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import { createSecretToken, hashSecret } from '#server/platform/secret-token.ts';
import type { apiTokenAdminContract, ApiTokenObject } from './api-token-contract.ts';
import { bearerSecret, networksOf, refuseUnusable } from './api-token-credential.ts';
import type { ApiToken, ApiTokenStore } from './api-token-store.ts';

interface Needs {
  tokens: ApiTokenStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

/** Last use is recorded at most once per minute, so that a busy integration does not write on every call. */
const TOUCH_EVERY_MS = 60_000;

function previousOf(token: ApiToken, now: number): ApiTokenObject['previous'] {
  const { previousLastFour, previousExpiresAt, previousLastUsedAt } = token;
  if (previousLastFour === null || previousExpiresAt === null || previousExpiresAt <= now) return null;
  return {
    last_four: previousLastFour,
    expires_at: toTimestamp(previousExpiresAt),
    last_used_at: toTimestampOrNull(previousLastUsedAt),
  };
}

function toTokenObject(token: ApiToken, now: number): ApiTokenObject {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    last_four: token.lastFour,
    created_at: toTimestamp(token.createdAt),
    last_used_at: toTimestampOrNull(token.lastUsedAt),
    expires_at: toTimestampOrNull(token.expiresAt),
    networks: networksOf(token),
    previous: previousOf(token, now),
    revoked_at: toTimestampOrNull(token.revokedAt),
  };
}

export function createApiTokenService({ tokens, audit, transaction, clock }: Needs) {
  /** Pending writes of last use, at most one per secret of a token. Lists wait for them. */
  const touching = new Map<string, Promise<unknown>>();

  function touch(tokenHash: string, now: number): void {
    if (touching.has(tokenHash)) return;
    // The caller does not wait for this write, and a full disk does not reject the call.
    const written = transaction(() => tokens.recordUse(tokenHash, now)).catch(() => {});
    touching.set(tokenHash, written);
    void written.finally(() => touching.delete(tokenHash));
  }

  async function mustFindForChange(id: number): Promise<ApiToken> {
    const token = await tokens.findForChange(id);
    if (!token) throw new ApiError('token_not_found', `API token ${id} not found`);
    return token;
  }

  async function recordChange(
    call: Call,
    action: string,
    before: ApiToken | null,
    after: ApiToken,
  ): Promise<void> {
    const now = clock.now();
    const was = before && toTokenObject(before, now);
    await audit.record(call, action, `api_token:${after.id}`, was, toTokenObject(after, now));
  }

  return {
    /**
     * Authenticates the API token of a call.
     * @param header the `Authorization` header
     * @param address the caller's
     * @throws ApiError `unauthorized`
     */
    async authenticate(header: string | undefined, address: string | undefined): Promise<Actor> {
      const tokenHash = hashSecret(bearerSecret(header));
      const token = await tokens.findByHash(tokenHash);
      if (!token) throw new ApiError('unauthorized', 'the API token is unknown or revoked');
      const now = clock.now();
      const isPrevious = token.tokenHash !== tokenHash;
      refuseUnusable(token, { isPrevious, address, now });
      const usedAt = isPrevious ? token.previousLastUsedAt : token.lastUsedAt;
      // Also if it is ahead: the clock was wrong.
      if (usedAt === null || Math.abs(now - usedAt) >= TOUCH_EVERY_MS) touch(tokenHash, now);
      return { kind: 'api_token', name: token.name, id: String(token.id), role: token.role };
    },

    create: (request: RequestOf<typeof apiTokenAdminContract.createApiToken>, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const { name, role, expires_at: expiresAt = null, networks } = request;
        if (expiresAt !== null && expiresAt <= now) {
          throw refusedField('expires_at', fixedRule('not_in_future'));
        }
        const secret = createSecretToken('ldk_');
        const token = await tokens.insert({
          name,
          role,
          tokenHash: secret.hash,
          lastFour: secret.lastFour,
          createdAt: now,
          lastUsedAt: null,
          revokedAt: null,
          expiresAt,
          networks: networks.length === 0 ? null : JSON.stringify(networks),
          previousHash: null,
          previousLastFour: null,
          previousExpiresAt: null,
          previousLastUsedAt: null,
        });
        await recordChange(call, 'api_token.created', null, token);
        return { api_token: secret.plaintext, token: toTokenObject(token, now) };
      }),

    async list({ cursor, limit }: RequestOf<typeof apiTokenAdminContract.listApiTokens>) {
      await Promise.all(touching.values());
      const now = clock.now();
      const rows = await tokens.list(idFromCursor(cursor), limit);
      return toPage(rows, limit, (token) => toTokenObject(token, now));
    },

    /** A second rotation ends the overlap of the first, so a token has at most two secrets. */
    rotate: (id: number, overlapDays: number, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = await mustFindForChange(id);
        if (before.revokedAt !== null)
          throw new ApiError('token_not_found', `API token ${id} is revoked; create a new one`);
        const secret = createSecretToken('ldk_');
        const changes = {
          tokenHash: secret.hash,
          lastFour: secret.lastFour,
          lastUsedAt: null,
          previousHash: before.tokenHash,
          previousLastFour: before.lastFour,
          // Without an overlap, the old secret stays invalid even if the clock is set back.
          previousExpiresAt: overlapDays === 0 ? 0 : Math.round(now + overlapDays * DAY_MS),
          previousLastUsedAt: before.lastUsedAt,
        };
        const rotated = { ...before, ...changes };
        await tokens.update(id, changes);
        await recordChange(call, 'api_token.rotated', before, rotated);
        return { api_token: secret.plaintext, token: toTokenObject(rotated, now) };
      }),

    /** Revoking again keeps the time of the first revocation. */
    revoke: (id: number, call: Call) =>
      transaction(async () => {
        const now = clock.now();
        const before = await mustFindForChange(id);
        if (before.revokedAt !== null) return { token: toTokenObject(before, now) };
        const revoked = { ...before, revokedAt: now };
        await tokens.update(id, { revokedAt: now });
        await recordChange(call, 'api_token.revoked', before, revoked);
        return { token: toTokenObject(revoked, now) };
      }),
  };
}

export type ApiTokenService = ReturnType<typeof createApiTokenService>;
