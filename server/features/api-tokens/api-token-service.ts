// API tokens: made and revoked by administrators, presented as bearer credentials.
import type { Audit } from '#server/features/audit/audit-service.ts';
import { idFromCursor, toPage } from '#server/database/page.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Actor, Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import { createSecretToken, hashSecret } from '#server/platform/secret-token.ts';
import type { apiTokenAdminContract, ApiTokenObject } from './api-token-contract.ts';
import type { ApiToken, ApiTokenStore } from './api-token-store.ts';

interface Needs {
  tokens: ApiTokenStore;
  audit: Audit;
  transaction: RunTransaction;
  clock: Clock;
}

/** Last use is told to the minute, so that a busy integrator does not write at every call. */
const TOUCH_EVERY_MS = 60_000;
const BEARER = /^Bearer +(\S+) *$/iu;

function toTokenObject(token: ApiToken): ApiTokenObject {
  return {
    id: token.id,
    name: token.name,
    role: token.role,
    last_four: token.lastFour,
    created_at: toTimestamp(token.createdAt),
    last_used_at: toTimestampOrNull(token.lastUsedAt),
    revoked_at: toTimestampOrNull(token.revokedAt),
  };
}

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', message);
}

export function createApiTokenService({ tokens, audit, transaction, clock }: Needs) {
  /** Uses being written, by token id; a list that is asked for after them shows them. One for each token at most. */
  const touching = new Map<number, Promise<unknown>>();

  function touch(id: number, now: number): void {
    if (touching.has(id)) return;
    // Worth noting, but nothing for a caller to wait for, nor to be turned away for when the disk is full.
    const written = transaction(() => tokens.update(id, { lastUsedAt: now })).catch(() => {});
    touching.set(id, written);
    void written.finally(() => touching.delete(id));
  }

  return {
    /**
     * Who holds this credential.
     * @param header the `Authorization` header
     * @throws ApiError `unauthorized`
     */
    async authenticate(header: string | undefined): Promise<Actor> {
      if (header === undefined)
        throw unauthorized('this endpoint needs an API token: Authorization: Bearer ldk_…');
      const secret = BEARER.exec(header)?.[1];
      const token = secret === undefined ? null : await tokens.findByHash(hashSecret(secret));
      if (!token || token.revokedAt !== null) throw unauthorized('the API token is unknown or revoked');
      const now = clock.now();
      if (token.lastUsedAt === null || now - token.lastUsedAt >= TOUCH_EVERY_MS) touch(token.id, now);
      return { kind: 'api_token', name: token.name, id: String(token.id), role: token.role };
    },

    create: (request: RequestOf<typeof apiTokenAdminContract.createApiToken>, call: Call) =>
      transaction(async () => {
        const secret = createSecretToken('ldk_');
        const token = await tokens.insert({
          name: request.name,
          role: request.role,
          tokenHash: secret.hash,
          lastFour: secret.lastFour,
          createdAt: clock.now(),
          lastUsedAt: null,
          revokedAt: null,
        });
        await audit.record(call, 'api_token.created', `api_token:${token.id}`, null, toTokenObject(token));
        return { api_token: secret.plaintext, token: toTokenObject(token) };
      }),

    async list({ cursor, limit }: RequestOf<typeof apiTokenAdminContract.listApiTokens>) {
      await Promise.all(touching.values());
      return toPage(await tokens.list(idFromCursor(cursor), limit), limit, toTokenObject);
    },

    /** Revoking again keeps the first time. */
    revoke: (id: number, call: Call) =>
      transaction(async () => {
        const before = await tokens.findForChange(id);
        if (!before) throw new ApiError('token_not_found', `there is no API token ${id}`);
        if (before.revokedAt !== null) return { token: toTokenObject(before) };
        const revoked = { ...before, revokedAt: clock.now() };
        await tokens.update(id, { revokedAt: revoked.revokedAt });
        await audit.record(
          call,
          'api_token.revoked',
          `api_token:${id}`,
          toTokenObject(before),
          toTokenObject(revoked),
        );
        return { token: toTokenObject(revoked) };
      }),
  };
}

export type ApiTokenService = ReturnType<typeof createApiTokenService>;
