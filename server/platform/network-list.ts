// Whether an address is in one of a list of networks.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** `::ffff:10.0.0.1` is how a socket that takes both families writes an IPv4 caller. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const plain = address.replace(/%.*$/u, '');
  return isIP(plain) === 0 ? null : ipaddr.process(plain);
}

/** @param networks in CIDR notation, or single addresses; an address of the other family is in none of them */
export function isInNetworks(address: string, networks: readonly string[]): boolean {
  const caller = parse(address);
  if (caller === null) return false;
  return networks.some((network) => {
    const [start = '', length] = network.split('/');
    const base = ipaddr.parse(start);
    const bits = length === undefined ? base.toByteArray().length * 8 : Number(length);
    return base.kind() === caller.kind() && caller.match(base, bits);
  });
}
