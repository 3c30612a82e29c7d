// Under which address other machines reach a server that listens on every interface.
import { createSocket } from 'node:dgram';
import { type NetworkInterfaceInfo, networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { listensOn } from './wildcard-host.ts';

export type Interfaces = Readonly<Record<string, readonly NetworkInterfaceInfo[] | undefined>>;

/** For documentation only (RFC 5737, RFC 3849), so the default route leads there. Nothing is sent to them. */
const BEYOND_THE_LAN = { udp4: '203.0.113.1', udp6: '2001:db8::1' } as const;
/** The network of a machine may come up after the server, and its address may change. */
const LOOK_EVERY_MS = 10_000;

/** A URL cannot name an IPv6 address that is valid on one link only. */
function isNameable(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const parsed = ipaddr.parse(address);
  return parsed.kind() === 'ipv4' || parsed.range() !== 'linkLocal';
}

export function addressesOf(interfaces: Interfaces, which: 'ipv4' | 'all'): string[] {
  return Object.values(interfaces)
    .flatMap((addresses) => addresses ?? [])
    .filter(({ internal, family }) => !internal && (which === 'all' || family === 'IPv4'))
    .map(({ address }) => address)
    .filter(isNameable);
}

/**
 * The first address in `routed` that the machine has, otherwise its first IPv4 address, otherwise its first IPv6 address.
 * @param routed the addresses that the default routes leave from
 * @returns null if the machine has no address but loopback
 */
export function chooseAddress(candidates: readonly string[], routed: readonly string[]): string | null {
  // Self-assigned when a network gives no address.
  const usable = candidates.filter((address) => ipaddr.parse(address).range() !== 'linkLocal');
  return (
    routed.find((address) => usable.includes(address)) ??
    usable.find((address) => !address.includes(':')) ??
    usable[0] ??
    null
  );
}

/** The address that this machine would send from; connecting a UDP socket sends nothing. */
function routedAddress(type: 'udp4' | 'udp6'): Promise<string | null> {
  return new Promise((resolve) => {
    const socket = createSocket(type);
    // Without a default route or without IPv6, the callback gets the error, which its type does not declare.
    socket.connect(9, BEYOND_THE_LAN[type], (error?: Error) => {
      resolve(error ? null : socket.address().address);
      socket.close();
    });
  });
}

/** @returns null if the listener has one address only, or the machine has no address but loopback */
export async function findLanAddress(host: string): Promise<string | null> {
  const which = listensOn(host);
  if (which === 'one') return null;
  const candidates = addressesOf(networkInterfaces(), which);
  if (candidates.length === 0) return null;
  const types = which === 'ipv4' ? (['udp4'] as const) : (['udp4', 'udp6'] as const);
  const routed = await Promise.all(types.map(routedAddress));
  return chooseAddress(
    candidates,
    routed.filter((address) => address !== null),
  );
}

export interface LanAddress {
  /** As `findLanAddress` has last returned it. */
  current(): string | null;
  close(): void;
}

/** Keeps up with the machine's network. */
export async function watchLanAddress(host: string): Promise<LanAddress> {
  let address = await findLanAddress(host);
  if (listensOn(host) === 'one') return { current: () => address, close: () => {} };
  const timer = setInterval(() => {
    void findLanAddress(host).then((found) => {
      address = found;
    });
  }, LOOK_EVERY_MS).unref();
  return { current: () => address, close: () => clearInterval(timer) };
}
