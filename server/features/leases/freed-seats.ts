// Counts the seats that leases free at their end. A shared seat is free when no other lease takes it.
import { isShareable, type SeatOfLease } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';

/** @param unitsLeft reads what other leases take of these seats, after these leases have ended */
export async function freedSeats(
  licenseId: number,
  ended: readonly SeatOfLease[],
  unitsLeft: LeaseStore['unitsOfSeats'],
): Promise<number> {
  let freed = 0;
  const bySeat = Map.groupBy(ended, ({ seatKey }) => seatKey);
  const shared = [...bySeat.keys()].filter((seatKey) => isShareable(seatKey));
  const left = shared.length === 0 ? new Map<string, number>() : await unitsLeft(licenseId, shared);
  for (const [seatKey, sharing] of bySeat) {
    const held = Math.max(...sharing.map(({ units }) => units));
    freed += Math.max(0, held - (left.get(seatKey) ?? 0));
  }
  return freed;
}
