// Which requesters a lease rule is about: by user, host, group or network.
import ipaddr from 'ipaddr.js';

/** Who asks for a lease, or holds one. User and host are what the client reports; the address is what the server sees. */
export interface LeaseRequester {
  readonly user: string | null;
  readonly host: string | null;
  readonly address: string | null;
}

export interface LeaseGroup {
  readonly kind: 'user' | 'host';
  /** Names; a group of hosts may also contain IP addresses and networks. */
  readonly members: readonly string[];
}

/** All given fields must match. Without fields, everyone matches. */
export interface LeaseMatch {
  readonly user?: string | undefined;
  readonly host?: string | undefined;
  readonly group?: LeaseGroup | undefined;
  /** A network in CIDR notation, or a single address. */
  readonly address?: string | undefined;
}

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Test = (requester: LeaseRequester) => boolean;

/** Bits of an IPv6 address before the IPv4 address that it contains. */
const MAPPED_BITS = 96;

/**
 * User and host names are compared without case, as Windows and DNS do, and however an accent is encoded. A user who
 * could escape a rule by typing another case would not be bound by it, and could hold a second seat.
 */
export function comparableName(name: string): string {
  return name.normalize('NFC').toLowerCase();
}

/** Each name once, in the spelling that comes first. */
export function distinctNames(names: readonly string[]): string[] {
  const known = new Map<string, string>();
  for (const name of names) {
    const key = comparableName(name);
    if (!known.has(key)) known.set(key, name);
  }
  return [...known.values()];
}

/** Null if the text is not an IP address. `::ffff:10.0.0.1`, as dual-stack sockets report it, is 10.0.0.1. */
function parseAddress(text: string): Address | null {
  const plain = text.replace(/%.*$/u, '');
  if (ipaddr.IPv4.isValidFourPartDecimal(plain)) return ipaddr.IPv4.parse(plain);
  if (!ipaddr.IPv6.isValid(plain)) return null;
  const address = ipaddr.IPv6.parse(plain);
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

interface Network {
  start: Address;
  bits: number;
}

/** Null if the text is not a network in CIDR notation or an IP address. */
export function parseNetwork(text: string): Network | null {
  const [base = '', length, ...rest] = text.split('/');
  const start = base.includes('%') ? null : parseAddress(base);
  if (start === null || rest.length > 0) return null;
  const most = start.kind() === 'ipv4' ? 32 : 128;
  if (length === undefined) return { start, bits: most };
  if (!/^\d{1,3}$/u.test(length)) return null;
  const isMapped = start.kind() === 'ipv4' && base.includes(':');
  const bits = Number(length) - (isMapped ? MAPPED_BITS : 0);
  return bits >= 0 && bits <= most ? { start, bits } : null;
}

function isInside(address: string | null, networks: readonly Network[]): boolean {
  if (address === null || networks.length === 0) return false;
  const caller = parseAddress(address);
  if (caller === null) return false;
  return networks.some(({ start, bits }) => start.kind() === caller.kind() && caller.match(start, bits));
}

function isNamed(name: string | null, names: ReadonlySet<string>): boolean {
  return name !== null && names.has(comparableName(name));
}

function groupTest({ kind, members }: LeaseGroup): Test {
  const names = new Set(members.map((member) => comparableName(member)));
  if (kind === 'user') return ({ user }) => isNamed(user, names);
  const networks = members.flatMap((member) => parseNetwork(member) ?? []);
  return ({ host, address }) => isNamed(host, names) || isInside(address, networks);
}

/** A requester who does not report a field is not matched by a rule about that field. */
export function compileMatch({ user, host, group, address }: LeaseMatch): Test {
  const tests: Test[] = [];
  if (user !== undefined) {
    const names = new Set([comparableName(user)]);
    tests.push((requester) => isNamed(requester.user, names));
  }
  if (host !== undefined) {
    const names = new Set([comparableName(host)]);
    tests.push((requester) => isNamed(requester.host, names));
  }
  if (group !== undefined) tests.push(groupTest(group));
  if (address !== undefined) {
    const network = parseNetwork(address);
    tests.push((requester) => network !== null && isInside(requester.address, [network]));
  }
  return (requester) => tests.every((test) => test(requester));
}
