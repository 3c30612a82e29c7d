// Checks whether an address is in a list of networks.
import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** A dual-stack socket writes an IPv4 caller as `::ffff:10.0.0.1`. */
function parse(address: string): ipaddr.IPv4 | ipaddr.IPv6 | null {
  const plain = address.replace(/%.*$/u, '');
  return isIP(plain) === 0 ? null : ipaddr.process(plain);
}

/** @param networks in CIDR notation, or single addresses; they never contain addresses of the other family */
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
