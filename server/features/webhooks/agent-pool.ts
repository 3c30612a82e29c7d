// One agent per receiver and CA, kept while it is in use.
import type { SecureContext } from 'node:tls';
import { createFairLookup } from './fair-lookup.ts';
import { createTrust, GuardedAgent } from './guarded-agent.ts';
import type { Lookup } from './webhook-url.ts';

/** Receivers with kept connections. The least recently used one is removed first. */
const MAX_AGENTS = 64;
/** Cached lists of trusted authorities, about 1 MB each. */
const MAX_TRUSTS = 16;
/** Long after its connections have been closed. */
const AGENT_IDLE_MS = 300_000;

interface Place {
  readonly agent: GuardedAgent;
  users: number;
  /** In `performance.now()` time. */
  usedAt: number;
}

interface Needs {
  allow: readonly string[];
  extraCa: readonly string[];
  lookup: Lookup;
}

export interface AgentPool {
  /** @param ca PEM certificates that are additionally trusted for this receiver, or null */
  use<Result>(
    origin: string,
    ca: string | null,
    run: (agent: GuardedAgent) => Promise<Result>,
  ): Promise<Result>;
  size(): number;
  close(): void;
}

export function createAgentPool({ allow, extraCa, lookup }: Needs): AgentPool {
  const fairLookup = createFairLookup(lookup);
  // Both in order of last use.
  const places = new Map<string, Place>();
  const trusts = new Map<string | null, SecureContext>();

  function trustFor(ca: string | null): SecureContext {
    const trust = trusts.get(ca) ?? createTrust(ca === null ? extraCa : [...extraCa, ca]);
    trusts.delete(ca);
    trusts.set(ca, trust);
    const [oldest] = trusts.keys();
    if (trusts.size > MAX_TRUSTS && oldest !== undefined) trusts.delete(oldest);
    return trust;
  }

  function enter(origin: string, ca: string | null): Place {
    const key = `${origin} ${ca ?? ''}`;
    const place = places.get(key) ?? {
      agent: new GuardedAgent({ allow, lookup: fairLookup, trust: trustFor(ca) }),
      users: 0,
      usedAt: 0,
    };
    places.delete(key);
    places.set(key, place);
    place.users += 1;
    place.usedAt = performance.now();
    return place;
  }

  function sweep(): void {
    const idleSince = performance.now() - AGENT_IDLE_MS;
    for (const [key, { agent, users, usedAt }] of places) {
      if (usedAt > idleSince && places.size <= MAX_AGENTS) return;
      if (users > 0) continue;
      places.delete(key);
      agent.destroy();
    }
  }

  return {
    async use(origin, ca, run) {
      const place = enter(origin, ca);
      try {
        return await run(place.agent);
      } finally {
        place.users -= 1;
        sweep();
      }
    },
    size: () => places.size,
    close() {
      for (const { agent } of places.values()) agent.destroy();
      places.clear();
      trusts.clear();
    },
  };
}
