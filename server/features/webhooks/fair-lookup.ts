// Name lookups for deliveries. `getaddrinfo` gets two threads of the whole process, and an unresponsive name server
// occupies one of them for ten seconds or more, long after the attempt has timed out.
import type { LookupAddress } from 'node:dns';
import type { Lookup } from './webhook-url.ts';

/**
 * Concurrent lookups of the same name share one call. Names whose last lookup failed are looked up one at a time, so
 * that they never occupy all threads.
 */
export function createFairLookup(lookup: Lookup): Lookup {
  const pending = new Map<string, Promise<LookupAddress[]>>();
  const failing = new Set<string>();
  let lane: Promise<unknown> = Promise.resolve();

  async function look(host: string): Promise<LookupAddress[]> {
    try {
      const addresses = await lookup(host, { all: true });
      failing.delete(host);
      return addresses;
    } catch (error) {
      failing.add(host);
      throw error;
    } finally {
      pending.delete(host);
    }
  }

  function begin(host: string): Promise<LookupAddress[]> {
    if (!failing.has(host)) return look(host);
    const looking = lane.then(() => look(host));
    lane = looking.catch(() => undefined);
    return looking;
  }

  return (host) => {
    const looking = pending.get(host) ?? begin(host);
    pending.set(host, looking);
    return looking;
  };
}
