// Limits the connections of a listener, in total and per peer address, and what they have sent ahead.
import type { Socket } from 'node:net';
import type { Connection } from './http-connection.ts';
import type { Peer } from './request-scheduler.ts';

export interface ConnectionLimits {
  total: number;
  perAddress: number;
  /** Whether the address is a trusted proxy. Its connections carry many clients and count only against the total. */
  isProxy(address: string): boolean;
  /** Total over all connections: unread bytes of pipelined requests. */
  unreadBytes?: number;
}

const MAX_UNREAD_BYTES = 64 * 1024 * 1024;

/** An accepted connection, from before its TLS handshake until it closes. */
export interface Admitted {
  socket: Socket;
  peer: AddressPeer;
  /** Undefined during the TLS handshake. */
  connection(): Connection | undefined;
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

/** How valuable it is: 0 it never sent a request, 1 it is between requests, 2 a request is in progress. */
function worthOf({ connection }: Admitted): 0 | 1 | 2 {
  const opened = connection();
  if (!opened?.hasSentRequest()) return 0;
  return opened.isBusy() ? 2 : 1;
}

/** The least valuable connection, oldest first; none while all of them are busy. */
function leastValuable(admitted: Iterable<Admitted>): Admitted | undefined {
  let idle: Admitted | undefined;
  for (const one of admitted) {
    const worth = worthOf(one);
    if (worth === 0) return one;
    if (worth === 1) idle ??= one;
  }
  return idle;
}

interface Unread {
  bytes: number;
}

const byBytes = (one: Unread, other: Unread): number => other.bytes - one.bytes;

function unreadOf({ admitted }: AddressPeer) {
  const connections = [...admitted]
    .map(({ socket, connection }) => ({ socket, bytes: connection()?.unreadBytes() ?? 0 }))
    .filter(({ bytes }) => bytes > 0);
  return { connections, bytes: connections.reduce((sum, { bytes }) => sum + bytes, 0) };
}

/**
 * At a limit, a new connection replaces an idle one of the same address, or at the total limit one of the address with
 * the most connections. This way, many idle connections never keep clients out.
 */
export function createConnectionLimits(limits: ConnectionLimits) {
  const { total, perAddress, isProxy, unreadBytes = MAX_UNREAD_BYTES } = limits;
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
    admit(socket: Socket, connection: Admitted['connection']): Admitted | undefined {
      const address = socket.remoteAddress;
      // It closed before it was accepted.
      if (address === undefined) return undefined;
      const group = groupOf(address);
      const peer = peers.get(group) ?? { group, waiting: 0, admitted: new Set() };
      const isFull = peer.admitted.size >= perAddress && !isProxy(address);
      if (isFull && !makeRoom(peer)) return undefined;
      if (!isFull && count >= total && !makeRoom(largest())) return undefined;
      const one: Admitted = { socket, peer, connection };
      peer.admitted.add(one);
      // Making room may have removed the peer's entry.
      peers.set(group, peer);
      count += 1;
      socket.once('close', () => release(one));
      return one;
    },

    /** Closes what has sent too much ahead: of the address with the most unread bytes, the connection with the most. */
    limitUnread(): void {
      const unread = [...peers.values()].map(unreadOf);
      let excess = unread.reduce((sum, { bytes }) => sum + bytes, 0) - unreadBytes;
      if (excess <= 0) return;
      for (const { connections } of unread.toSorted(byBytes)) {
        for (const { socket, bytes } of connections.toSorted(byBytes)) {
          if (excess <= 0) return;
          socket.destroy();
          excess -= bytes;
        }
      }
    },
  };
}
