// Decides which addresses a webhook may reach: public ones, and networks that the administrator allows.
import ipaddr from 'ipaddr.js';
import {
  type Address,
  isWithin,
  type Network,
  parseAddress,
  parseNetwork,
  parseNetworks,
} from '#server/wire/networks.ts';

function networks(...texts: string[]): Network[] {
  return texts.map((text) => {
    const network = parseNetwork(text);
    if (network === null) throw new TypeError(`not a network: ${text}`);
    return network;
  });
}

/** Unicast as assigned by IANA. Everything else is reserved or unassigned (RFC 4291 section 2.4). */
const GLOBAL_V6 = networks('2000::/3');

/** Translates to any IPv4 address (RFC 6052). IPv4-only receivers appear here behind DNS64. */
const NAT64 = networks('64:ff9b::/96');

/** IPv6 addresses that end with an IPv4 address: IPv4-compatible, SIIT (RFC 2765), NAT64 (RFC 6052, RFC 8215). */
const ENDS_IN_V4 = networks('::/96', '::ffff:0:0:0/96', '64:ff9b::/96', '64:ff9b:1::/48');

/** 6to4 (RFC 3056) has the IPv4 address in bytes 2 to 5. */
const SIX_TO_FOUR = networks('2002::/16');

/** Teredo (RFC 4380): the server's address in bytes 4 to 7, the client's inverted in the last four. */
const TEREDO = networks('2001::/32');

/**
 * Networks that lead back to this machine or expose credentials of a cloud machine. Only an allow-list entry inside one
 * of them opens it; `0.0.0.0/0` and `fd00::/8` do not.
 */
const BY_NAME_ONLY = networks(
  // A connection to the unspecified address reaches this machine.
  '0.0.0.0/8',
  '::/128',
  '127.0.0.0/8',
  '::1/128',
  '169.254.0.0/16',
  'fe80::/10',
  // Metadata services outside link-local: Azure, Alibaba Cloud, Oracle Cloud, AWS and Google by IPv6.
  '168.63.129.16/32',
  '100.100.100.200/32',
  '192.0.0.192/32',
  'fd00:ec2::254/128',
  'fd20:ce::254/128',
);

/** The IPv4 addresses that tunnels and translators would forward to. */
function embeddedV4(address: Address): ipaddr.IPv4[] {
  const bytes = address.toByteArray();
  if (isWithin(address, SIX_TO_FOUR)) return [new ipaddr.IPv4(bytes.slice(2, 6))];
  if (isWithin(address, TEREDO)) {
    return [new ipaddr.IPv4(bytes.slice(4, 8)), new ipaddr.IPv4(bytes.slice(12).map((byte) => byte ^ 0xff))];
  }
  return isWithin(address, ENDS_IN_V4) ? [new ipaddr.IPv4(bytes.slice(12))] : [];
}

/** By the IANA special-purpose registries (RFC 6890), as in ipaddr.js. A tunnel address is never public. */
function isPublic(address: Address): boolean {
  if (isWithin(address, BY_NAME_ONLY)) return false;
  if (isWithin(address, NAT64)) return embeddedV4(address).every(isPublic);
  return address.range() === 'unicast' && (address.kind() === 'ipv4' || isWithin(address, GLOBAL_V6));
}

function opens(network: Network, address: Address): boolean {
  if (!isWithin(address, [network])) return false;
  return BY_NAME_ONLY.every(
    (guarded) =>
      !isWithin(address, [guarded]) || (network.bits >= guarded.bits && isWithin(network.start, [guarded])),
  );
}

/**
 * Whether a webhook may connect to this address: public unicast, or in an allowed network. Loopback, link-local and
 * metadata addresses are opened only by an entry inside such a network, and never through an IPv6 address that embeds
 * them.
 * @param address as the operating system writes it; anything else is not reachable
 * @param allow networks such as `10.0.0.0/8`, and single addresses
 */
export function isReachable(address: string, allow: readonly string[]): boolean {
  const judged = parseAddress(address);
  if (judged === null) return false;
  if (isPublic(judged)) return true;
  // `::1` has the form of an IPv4-compatible address, but is loopback.
  const leadsTo = isWithin(judged, BY_NAME_ONLY) ? [] : embeddedV4(judged);
  if (leadsTo.some((inner) => isWithin(inner, BY_NAME_ONLY))) return false;
  return parseNetworks(allow).some((network) => opens(network, judged));
}
