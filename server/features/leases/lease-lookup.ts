// Finds the lease of a heartbeat: in memory, or else in the database.
import {
  createFactCache,
  type FactCache,
  type FactVersions,
  NOTHING_KEPT,
} from '#server/database/fact-cache.ts';
import type { LeaseFacts, LeaseLookupStore } from './lease-lookup-store.ts';

/** About 45 MB. */
const MAX_KEPT = 100_000;

interface Needs {
  store: LeaseLookupStore;
  /** Null if other servers can change the database: nothing is kept. */
  versions: { leases: FactVersions; licenses: FactVersions } | null;
}

export function createLeaseLookup({ store, versions }: Needs) {
  const leases: FactCache<LeaseFacts> = versions
    ? createFactCache<LeaseFacts>({
        sources: [
          { versions: versions.leases, keyOf: ({ id }) => id },
          { versions: versions.licenses, keyOf: ({ licenseId }) => licenseId },
        ],
        maxSize: MAX_KEPT,
        // A lease is asked for again and again, by its heartbeats.
        keeps: 'from the first look-up',
        commonTexts: ['state', 'product', 'feature', 'licensing', 'features', 'licenseProduct'],
      })
    : NOTHING_KEPT;

  return {
    /** @param tokenHash lower-case hex SHA-256 of the lease token */
    known: leases.get,
    find: (tokenHash: string): Promise<LeaseFacts | null> =>
      leases.load(tokenHash, () => store.findLease(tokenHash)),
  };
}

export type LeaseLookup = ReturnType<typeof createLeaseLookup>;
