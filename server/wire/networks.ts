// IP addresses, and networks in CIDR notation. An IPv4-mapped IPv6 address (`::ffff:10.0.0.1`) is the IPv4 address itself:
// dual-stack sockets report IPv4 callers in this form, and the operating system connects to the IPv4 address.
import ipaddr from 'ipaddr.js';
import { canonicalV6, sharedBits } from './address-text.ts';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface Network {
  start: Address;
  /** How many leading bits all addresses share. */
  bits: number;
}

/** Null if the text is not an IPv6 address. A zone, as in `fe80::1%eth0`, is ignored. */
export function parseV6(text: string): ipaddr.IPv6 | null {
  // ipaddr.js takes the IPv4-compatible `::127.0.0.1` for an IPv4-mapped address.
  const canonical = canonicalV6(text.replace(/%.*$/u, ''));
  return canonical === null ? null : ipaddr.IPv6.parse(canonical);
}

/** Null if the text is not an IP address. */
export function parseAddress(text: string): Address | null {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  const address = parseV6(text);
  return address?.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** A single address is a network of one. Null if the text is neither. */
export function parseNetwork(text: string): Network | null {
  const bits = sharedBits(text);
  const start = bits === undefined ? null : parseAddress(text.replace(/\/.*$/u, ''));
  return bits === undefined || start === null ? null : { start, bits };
}

/** Leaves out what is not a network: no address is in it. */
export function parseNetworks(texts: readonly string[]): Network[] {
  return texts.flatMap((text) => parseNetwork(text) ?? []);
}

/** A network never contains addresses of the other family. */
export function isWithin(address: Address, networks: readonly Network[]): boolean {
  return networks.some(({ start, bits }) => start.kind() === address.kind() && address.match(start, bits));
}

/** False if the text is not an IP address. */
export function isInNetworks(text: string, networks: readonly Network[]): boolean {
  const address = networks.length === 0 ? null : parseAddress(text);
  return address !== null && isWithin(address, networks);
}
