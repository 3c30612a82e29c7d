// The seats that a checkout needs. Its client may have left one lingering, which it takes over.
import type { LeaseDraft } from './lease-draft.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { OpenPool } from './open-pool.ts';
import type { SeatPools } from './seat-pools.ts';

interface SeatClaim {
  /** Seats that it needs in addition to those that it shares. */
  units: number;
  /** How many of them have to be free; negative if it takes over more seats than it needs. */
  free: number;
  /** The lease to take over; null if there is none. Its seats belong to its client, and are not offered to others. */
  lingering: LeaseRow | null;
}

interface Needs {
  leases: Pick<LeaseStore, 'findLingering' | 'seatUnits'>;
  pools: Pick<SeatPools, 'missingUnits'>;
}

export function createSeatClaims({ leases, pools }: Needs) {
  /** @param left a lease whose seat the client leaves, as if it lingered */
  return async (pool: OpenPool, draft: LeaseDraft, left: LeaseRow | null = null): Promise<SeatClaim> => {
    const missing = await pools.missingUnits(pool, draft);
    const mayTakeOver = missing > 0 && pool.license.terms.lingerSeconds > 0;
    const lingering = left ?? (mayTakeOver ? await leases.findLingering(draft) : null);
    if (!lingering) return { units: missing, free: missing, lingering: null };
    const { id, seatKey } = lingering;
    const units = await pools.missingUnits(pool, { ...draft, takesOver: id });
    const takenOver = Math.max(0, lingering.units - (await leases.seatUnits(draft.licenseId, seatKey, id)));
    return { units, free: units - takenOver, lingering };
  };
}

export type SeatClaims = ReturnType<typeof createSeatClaims>;
