// Whether a seat is beyond those of its license. This is decided when the seat is taken, not when a lease joins it.
import { isShareable, type LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { OpenPool } from './open-pool.ts';

type Seat = Pick<LeaseRow, 'units' | 'overdraft'>;

interface Needs {
  leases: Pick<LeaseStore, 'firstOfSeat'>;
}

export function createSeatOverdraft({ leases }: Needs) {
  /**
   * @param lease whose seat has been taken @param id of the lease, if it is stored already
   * @param takenOver a lease whose seat it takes over
   */
  return async (
    { license, row }: OpenPool,
    { licenseId, seatKey, units, id }: Pick<LeaseRow, 'licenseId' | 'seatKey' | 'units'> & { id?: number },
    takenOver: Seat | null = null,
  ): Promise<0 | 1> => {
    const { seats } = license.terms;
    if (seats === null || row.inUse <= seats) return 0;
    const isOfSeat = (seat: Seat | null) => seat !== null && seat.units >= units && seat.overdraft === 0;
    if (isOfSeat(takenOver)) return 0;
    const shared = isShareable(seatKey) ? await leases.firstOfSeat(licenseId, seatKey, id) : null;
    return isOfSeat(shared) ? 0 : 1;
  };
}

export type SeatOverdraft = ReturnType<typeof createSeatOverdraft>;
