// Reads the credential of an API call and explains why it is rejected.
import { isInNetworks, parseNetworks } from '#server/wire/networks.ts';
import { ApiError } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import type { ApiToken } from './api-token-store.ts';

const BEARER = /^Bearer +(\S+) *$/iu;

function unauthorized(message: string): ApiError {
  return new ApiError('unauthorized', message);
}

/**
 * @param header the `Authorization` header
 * @throws ApiError `unauthorized`
 */
export function bearerSecret(header: string | undefined): string {
  if (header === undefined)
    throw unauthorized('this endpoint needs an API token: Authorization: Bearer ldk_…');
  const secret = BEARER.exec(header)?.[1];
  if (secret !== undefined) return secret;
  if (/^ldk_\S*$/u.test(header.trim()))
    throw unauthorized(
      'the Authorization header lacks the word Bearer before the API token: Authorization: Bearer ldk_…',
    );
  throw unauthorized('the Authorization header must have the form: Authorization: Bearer ldk_…');
}

export function networksOf({ networks }: Pick<ApiToken, 'networks'>): string[] {
  return networks === null ? [] : (JSON.parse(networks) as string[]);
}

interface Use {
  /** Whether the secret is the one that the last rotation replaced. */
  isPrevious: boolean;
  /** The caller's IP address. */
  address: string | undefined;
  now: number;
}

/** @throws ApiError `unauthorized` for a known token that is not valid now or from this address */
export function refuseUnusable(token: ApiToken, { isPrevious, address, now }: Use): void {
  if (token.revokedAt !== null) throw unauthorized('the API token is unknown or revoked');
  if (token.expiresAt !== null && token.expiresAt <= now)
    throw unauthorized(`the API token expired at ${toTimestamp(token.expiresAt)}`);
  if (isPrevious && (token.previousExpiresAt ?? 0) <= now)
    throw unauthorized('the API token was replaced by a rotation; use the new one');
  const networks = networksOf(token);
  if (networks.length > 0 && !isInNetworks(address ?? '', parseNetworks(networks)))
    throw unauthorized(`the API token must not be used from ${address ?? 'an unknown address'}`);
}
