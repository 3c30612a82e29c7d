// What a webhook URL may be (contract, section 6), and whether its host may be reached.
import type { LookupAddress } from 'node:dns';
import { isIP } from 'node:net';
import { ApiError } from '#server/wire/errors.ts';
import { isReachable } from './public-address.ts';

const MAX_LENGTH = 2048;

/** All addresses of a name, as `lookup` of `node:dns/promises` finds them; rejects if there are none. */
export type Lookup = (host: string, options: { all: true }) => Promise<LookupAddress[]>;

interface Guard {
  /** Networks that may be reached besides public ones. */
  allow: readonly string[];
  lookup: Lookup;
}

function forbidden(message: string): ApiError {
  return new ApiError('webhook_url_forbidden', `url: ${message}`);
}

/** The host as sockets take it: an IPv6 address without its brackets. */
export function hostOf(url: URL): string {
  return url.hostname.replace(/^\[|\]$/gu, '');
}

/**
 * Reads a URL as browsers do (WHATWG): `https://2130706433/` and `https://0x7f.1/` come out as 127.0.0.1, names in
 * punycode and lower case. A fragment is dropped, as it is never sent.
 *
 * @throws ApiError `invalid_request` if it is no URL or longer than 2048 characters; `webhook_url_forbidden` if it is
 *   not HTTPS or carries a user name or password
 */
export function parseWebhookUrl(text: string): URL {
  if (!URL.canParse(text)) throw new ApiError('invalid_request', 'url: is no URL');
  const url = new URL(text);
  url.hash = '';
  if (Math.max(text.length, url.href.length) > MAX_LENGTH) {
    throw new ApiError('invalid_request', `url: is longer than ${MAX_LENGTH} characters`);
  }
  if (url.protocol !== 'https:') throw forbidden('must begin with https://');
  if (url.username !== '' || url.password !== '') throw forbidden('must not hold a user name or password');
  return url;
}

/**
 * The URL in its normal spelling, once its host was found to be one that may be reached. A name must resolve, and
 * every address of it is judged.
 *
 * @throws ApiError as `parseWebhookUrl` does, and `webhook_url_forbidden` for a host that may not be reached
 */
export async function checkWebhookUrl(text: string, { allow, lookup }: Guard): Promise<URL> {
  const url = parseWebhookUrl(text);
  const host = hostOf(url);
  if (isIP(host) !== 0) {
    if (!isReachable(host, allow)) {
      throw forbidden(`${host} is not a public address, nor in a network that webhooks may reach`);
    }
    return url;
  }
  const addresses = await lookup(host, { all: true }).catch((): LookupAddress[] => []);
  if (addresses.length === 0) throw forbidden(`the name ${host} does not resolve`);
  const refused = addresses.find(({ address }) => !isReachable(address, allow));
  if (refused) {
    throw forbidden(
      `${host} leads to ${refused.address}, which is not a public address, nor in a network that webhooks may reach`,
    );
  }
  return url;
}
