// Limits the connections of a listener, in total and per peer address.
import type { Socket } from 'node:net';
import type { Peer } from './request-scheduler.ts';

export interface ConnectionLimits {
  total: number;
  perAddress: number;
  /** Whether the address is a trusted proxy. Its connections carry many clients and count only against the total. */
  isProxy(address: string): boolean;
}

/** An accepted connection, from before its TLS handshake until it closes. */
export interface Admitted {
  socket: Socket;
  peer: AddressPeer;
  /** How valuable it is: 0 it never sent a request, 1 it is between requests, 2 a request is in progress. */
  worth(): 0 | 1 | 2;
}

interface AddressPeer extends Peer {
  group: string;
  admitted: Set<Admitted>;
}

/** IPv6 clients can choose any address in their /64. */
function groupOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/iu.exec(address);
  if (mapped?.[1] !== undefined) return mapped[1];
  if (!address.includes(':')) return address;
  const [head = '', tail] = (address.split('%')[0] ?? '').split('::');
  const left = head === '' ? [] : head.split(':');
  const right = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : 8 - left.length - right.length;
  return [...left, ...Array<string>(Math.max(zeros, 0)).fill('0'), ...right].slice(0, 4).join(':');
}

/** The least valuable connection, oldest first; none while all of them are busy. */
function leastValuable(admitted: Iterable<Admitted>): Admitted | undefined {
  let idle: Admitted | undefined;
  for (const one of admitted) {
    const worth = one.worth();
    if (worth === 0) return one;
    if (worth === 1) idle ??= one;
  }
  return idle;
}

/**
 * At a limit, a new connection replaces an idle one of the same address, or at the total limit one of the address with
 * the most connections. This way, many idle connections never keep clients out.
 */
export function createConnectionLimits({ total, perAddress, isProxy }: ConnectionLimits) {
  const peers = new Map<string, AddressPeer>();
  let count = 0;

  function release(one: Admitted): void {
    const { peer } = one;
    if (!peer.admitted.delete(one)) return;
    count -= 1;
    if (peer.admitted.size === 0) peers.delete(peer.group);
  }

  function largest(): AddressPeer | undefined {
    let found: AddressPeer | undefined;
    for (const peer of peers.values()) if (!found || peer.admitted.size > found.admitted.size) found = peer;
    return found;
  }

  /** @returns whether there is room now */
  function makeRoom(peer: AddressPeer | undefined): boolean {
    const victim = peer && leastValuable(peer.admitted);
    if (!victim) return false;
    release(victim);
    victim.socket.destroy();
    return true;
  }

  return {
    /** @returns undefined if the connection has to be refused */
    admit(socket: Socket, worth: Admitted['worth']): Admitted | undefined {
      const address = socket.remoteAddress;
      // It closed before it was accepted.
      if (address === undefined) return undefined;
      const group = groupOf(address);
      const peer = peers.get(group) ?? { group, waiting: 0, admitted: new Set() };
      const isFull = peer.admitted.size >= perAddress && !isProxy(address);
      if (isFull && !makeRoom(peer)) return undefined;
      if (!isFull && count >= total && !makeRoom(largest())) return undefined;
      const one: Admitted = { socket, peer, worth };
      peer.admitted.add(one);
      // Making room may have removed the peer's entry.
      peers.set(group, peer);
      count += 1;
      socket.once('close', () => release(one));
      return one;
    },
  };
}
