// The clients that wait for seats of a license, in the order in which they came. Each call of the license may walk the
// whole line while other changes wait, so rules, holders and shared seats are read once for many clients.
import type { HeldSeat, HeldSeats, LeaseJudge, LeaseQuestion, PassTest } from './lease-judge.ts';
import type { LeaseClock } from './lease-clock.ts';
import { isShareable } from './lease-row.ts';
import type { LeaseStore, WaitingLease } from './lease-store.ts';
import { fits, isWithinLimit, type OpenPool } from './open-pool.ts';

/** Most lines are left at their first client. */
const READ_AT_ONCE = 50;

/** A client to which those behind it have to leave the seats that it needs. */
interface InLine extends HeldSeat {
  /** Of its lease. */
  id: number;
  /** Seats that it needs in addition to those that it shares. */
  units: number;
  /** Whether it can have them now. */
  isReady: boolean;
}

interface Needs {
  leases: Pick<LeaseStore, 'waiting' | 'heldSeats' | 'unitsOfSeats'>;
  judge: LeaseJudge;
  leaseClock: Pick<LeaseClock, 'now'>;
}

export function createWaitingLine({ leases, judge, leaseClock }: Needs) {
  const seatsOf = ({ license, limit, row }: OpenPool): HeldSeats => ({
    licenseId: license.id,
    limit,
    inUse: row.inUse,
    holders: () => leases.heldSeats(license.id),
  });

  async function sharedUnits(
    licenseId: number,
    waiting: readonly WaitingLease[],
  ): Promise<Map<string, number>> {
    const seatKeys = waiting.map(({ seatKey }) => seatKey).filter((seatKey) => isShareable(seatKey));
    return seatKeys.length === 0 ? new Map() : leases.unitsOfSeats(licenseId, seatKeys);
  }

  /**
   * The clients in line. A client that a limit keeps from a seat, or that could not get its seats even if all were free,
   * does not hold up those behind it. A client that does not get seats holds up all behind it, except those whose
   * reservations cover what they need. The caller may take the seats for a client before it asks for the next one.
   */
  return async function* inLine(pool: OpenPool): AsyncGenerator<InLine> {
    const { id: licenseId } = pool.license;
    let decide = await judge.among(seatsOf(pool));
    const decideIfFree = await judge.among({
      ...seatsOf(pool),
      inUse: 0,
      holders: () => Promise.resolve([]),
    });
    /** Whether the client would get its seats if all were free. */
    const canBeServed = (client: LeaseQuestion) =>
      isWithinLimit(pool, client.units) && decideIfFree(client).outcome === 'allowed';
    /** Those that did not get seats. */
    const ahead: HeldSeat[] = [];
    /** Read again after each change; null if no client passes others. */
    let test: PassTest | null | undefined;
    const readTest = () =>
      judge.passing({
        ...seatsOf(pool),
        holders: async () => [...(await leases.heldSeats(licenseId)), ...ahead],
      });
    // One that has stopped asking would keep a seat from others for half a minute before the job ends it.
    const now = leaseClock.now();
    for (let after = 0; ;) {
      const waiting = await leases.waiting(licenseId, after, now, READ_AT_ONCE);
      const held = await sharedUnits(licenseId, waiting);
      for (const { id, seatKey, userName: user, host, address, units: wanted } of waiting) {
        const shared = held.get(seatKey) ?? 0;
        const units = Math.max(0, wanted - shared);
        const client = { user, host, address };
        const { outcome } = decide({ ...client, units });
        if (outcome === 'denied' || outcome === 'max') continue;
        const isFree = fits(pool, units) && outcome === 'allowed';
        if (!isFree && !canBeServed({ ...client, units: wanted })) continue;
        if (isFree && ahead.length > 0 && test === undefined) test = await readTest();
        const isReady = isFree && (ahead.length === 0 || test?.mayPass({ ...client, units }) === true);
        const { version } = pool.row;
        yield { id, ...client, units, isReady };
        if (pool.row.version === version) {
          ahead.push({ ...client, units });
          test?.add({ ...client, units });
          continue;
        }
        held.set(seatKey, Math.max(shared, wanted));
        decide = await judge.among(seatsOf(pool));
        test = undefined;
      }
      const last = waiting.at(-1);
      if (!last || waiting.length < READ_AT_ONCE) return;
      after = last.id;
    }
  };
}
