// Validates webhook URLs (contract, section 6) and checks whether their host may be reached.
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { fixedRule } from '#server/wire/field-rules.ts';
import { isReachable } from './public-address.ts';

const MAX_LENGTH = 2048;

/** All addresses of a name, like `lookup` of `node:dns/promises`; rejects if there are none. */
export type Lookup = (host: string, options: { all: true }) => Promise<LookupAddress[]>;

interface Guard {
  /** Networks that may be reached in addition to public ones. */
  allow: readonly string[];
  lookup: Lookup;
}

function forbidden(message: string): ApiError {
  return new ApiError('webhook_url_forbidden', `url: ${message}`);
}

function unresolved(host: string): ApiError {
  const message = `the name ${host} does not resolve`;
  return new ApiError('webhook_url_forbidden', `url: ${message}`, {
    details: [{ path: 'url', message, reason: 'host_unresolved' }],
  });
}

/** The host in the form that sockets take: IPv6 without brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/gu, '');
}

/**
 * Parses a URL as browsers do (WHATWG): `https://2130706433/` and `https://0x7f.1/` become 127.0.0.1, names become
 * lower-case punycode. The fragment is dropped, because it is never sent.
 * @throws ApiError `invalid_request` if it is not a URL or longer than 2048 characters; `webhook_url_forbidden` if it
 *   is not HTTPS or contains a user name or password
 */
export function parseWebhookUrl(text: string): URL {
  if (!URL.canParse(text)) throw refusedField('url', fixedRule('not_a_url'));
  const url = new URL(text);
  url.hash = '';
  if (Math.max(text.length, url.href.length) > MAX_LENGTH) {
    const message = `is longer than ${MAX_LENGTH} characters`;
    throw refusedField('url', { message, reason: 'too_long', values: { max: MAX_LENGTH } });
  }
  if (url.protocol !== 'https:') throw forbidden('must start with https://');
  if (url.username !== '' || url.password !== '') throw forbidden('must not contain a user name or password');
  return url;
}

/**
 * Returns the normalized URL after checking its host. A name must resolve, and all its addresses are checked.
 * @throws ApiError as `parseWebhookUrl` does, and `webhook_url_forbidden` for a host that webhooks must not reach
 */
export async function checkWebhookUrl(text: string, { allow, lookup }: Guard): Promise<URL> {
  const url = parseWebhookUrl(text);
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    if (!isReachable(host, allow)) {
      throw forbidden(`${host} is neither a public address nor in an allowed network`);
    }
    return url;
  }
  const addresses = await lookup(host, { all: true }).catch((): LookupAddress[] => []);
  if (addresses.length === 0) throw unresolved(host);
  const refused = addresses.find(({ address }) => !isReachable(address, allow));
  if (refused) {
    throw forbidden(
      `${host} resolves to ${refused.address}, which is neither a public address nor in an allowed network`,
    );
  }
  return url;
}
