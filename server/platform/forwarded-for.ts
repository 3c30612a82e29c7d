// Reads the caller's address from X-Forwarded-For.
import type { RequestHandler } from 'express';
import { isAddress } from '#server/wire/address-text.ts';
import { ApiError } from '#server/wire/errors.ts';

/** `1.2.3.4:567`, `[::1]:80` and `[::1]`: some proxies add the caller's port. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*)\](?::\d{1,5})?)$/u;

function withoutPort(entry: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? [];
  return ipv4 ?? ipv6 ?? entry;
}

/**
 * Rejects a header whose deciding entry, which Express uses as the caller's address, is not an IP address: it must not
 * become a rate limit key or an address in the log. Earlier entries can be written by any client and are ignored.
 */
export const readForwardedFor: RequestHandler = (request, _response, next) => {
  const given = request.headers['x-forwarded-for'];
  if (typeof given === 'string') {
    const entries = given.split(',').map((entry) => withoutPort(entry.trim()));
    request.headers['x-forwarded-for'] = entries.join(', ');
    if (!isAddress(request.ip ?? '')) {
      // Makes the log use the proxy's address.
      delete request.headers['x-forwarded-for'];
      throw new ApiError('invalid_request', 'X-Forwarded-For must name the caller by an IP address');
    }
  }
  next();
};
