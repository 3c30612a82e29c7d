// Which requesters a lease rule is about: by user, host, group or network.
import { isInNetworks, type Network, parseNetworks } from '#server/wire/networks.ts';

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

type Test = (requester: LeaseRequester) => boolean;

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

function isNamed(name: string | null, names: ReadonlySet<string>): boolean {
  return name !== null && names.has(comparableName(name));
}

function isFrom(address: string | null, networks: readonly Network[]): boolean {
  return address !== null && isInNetworks(address, networks);
}

function groupTest({ kind, members }: LeaseGroup): Test {
  const names = new Set(members.map((member) => comparableName(member)));
  if (kind === 'user') return ({ user }) => isNamed(user, names);
  const networks = parseNetworks(members);
  return ({ host, address }) => isNamed(host, names) || isFrom(address, networks);
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
    const networks = parseNetworks([address]);
    tests.push((requester) => isFrom(requester.address, networks));
  }
  return (requester) => tests.every((test) => test(requester));
}
