// Converts hosts as administrators write them to the form in certificates.
import { isIP, isIPv4 } from 'node:net';
import { domainToASCII } from 'node:url';
import ipaddr from 'ipaddr.js';
import { parseV6 } from '#server/wire/networks.ts';
import type { GeneralName } from './forge-encoding.ts';

/** RFC 1123, 2.1, plus the underscore that Windows allows and a wildcard as first label (RFC 6125, 6.4.3). */
const HOST_NAME =
  /^(?:\*\.)?[\da-z_](?:[\da-z_-]{0,61}[\da-z_])?(?:\.[\da-z_](?:[\da-z_-]{0,61}[\da-z_])?)*$/u;
/** `domainToASCII` reads a URL's host and ignores what follows: `a/b` would pass as `a`. */
const NOT_IN_HOST_NAMES = /[^\p{L}\p{M}\p{N}*._-]/u;
const HOST_NAME_MAX = 253;

/**
 * @param host non-ASCII letters become `xn--` (RFC 5280, 7.2), a trailing dot is removed
 * @throws RangeError if it is neither a host name nor an IP address
 */
export function toHostName(host: string): GeneralName {
  const address = isIPv4(host) ? ipaddr.IPv4.parse(host) : parseV6(host);
  if (address !== null) return { kind: 'ip', value: address.toByteArray() };
  const name = NOT_IN_HOST_NAMES.test(host) ? '' : domainToASCII(host).replace(/\.$/u, '');
  // `1.2.3` is technically an IP address, but certainly a mistake.
  if (name.length > HOST_NAME_MAX || !HOST_NAME.test(name) || isIP(name) !== 0) {
    throw new RangeError(`${JSON.stringify(host)} is neither a host name nor an IP address`);
  }
  return { kind: 'dns', value: name };
}
