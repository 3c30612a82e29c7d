// The caller's address as proxies write it into X-Forwarded-For.
import { isIP } from 'node:net';
import type { RequestHandler } from 'express';
import { ApiError } from '#server/wire/errors.ts';

/** `1.2.3.4:567`, `[::1]:80` and `[::1]`: some proxies add the caller's port. */
const WITH_PORT = /^(?:([\d.]+):\d{1,5}|\[([^\]]*)\](?::\d{1,5})?)$/u;

function withoutPort(entry: string): string {
  const [, ipv4, ipv6] = WITH_PORT.exec(entry) ?? [];
  return ipv4 ?? ipv6 ?? entry;
}

/** A zone (`fe80::1%eth0`) means something on the caller's machine only. */
function isAddress(text: string): boolean {
  return isIP(text) !== 0 && !text.includes('%');
}

/**
 * Refuses a header whose deciding entry, the one that Express takes for the caller, is no IP address: it must not become
 * the key of a rate limit or an address in the log. Entries before it are written by anybody and are not looked at.
 */
export const readForwardedFor: RequestHandler = (request, _response, next) => {
  const given = request.headers['x-forwarded-for'];
  if (typeof given === 'string') {
    const entries = given.split(',').map((entry) => withoutPort(entry.trim()));
    request.headers['x-forwarded-for'] = entries.join(', ');
    if (!isAddress(request.ip ?? '')) {
      // The log then has the address of the proxy.
      delete request.headers['x-forwarded-for'];
      throw new ApiError('invalid_request', 'X-Forwarded-For must name the caller by an IP address');
    }
  }
  next();
};
