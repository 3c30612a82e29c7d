// What a checkout would get now, by the same rules, without taking a seat or recording a denial.
import type { License } from '#server/rules/license.ts';
import { checkDevice, draftLease, isLeft, type LeaseDraft } from './lease-draft.ts';
import type { LeaseEndings } from './lease-endings.ts';
import type { HeldSeat, LeaseVerdict } from './lease-judge.ts';
import { holdsSeat, type LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { SeatClaims } from './seat-claims.ts';
import { fits, type OpenPool } from './open-pool.ts';
import type { SeatPools } from './seat-pools.ts';

interface Needs {
  leases: Pick<LeaseStore, 'findByInstance'>;
  pools: Pick<SeatPools, 'look' | 'verdict' | 'inLine' | 'mayPass'>;
  claims: SeatClaims;
  endings: Pick<LeaseEndings, 'obstacle'>;
}

/** The client of the checkout. */
export interface ForecastClient {
  instance_id?: string | undefined;
  feature?: string | undefined;
  machine_fingerprint?: string | undefined;
  user?: string | undefined;
  host?: string | undefined;
  address?: string | undefined;
  units?: number | undefined;
}

export interface Forecast {
  pool: OpenPool;
  draft: LeaseDraft;
  /** What the seat is counted by. */
  countedAs: string;
  /** Whether the client gets a lease again that it has. Then rules, queue and seats are not asked. */
  isHeld: boolean;
  verdict: LeaseVerdict;
  /** Clients in the queue that the checkout must not overtake. */
  ahead: number;
  /** Seats that have to be free; negative if the client takes over more seats than it needs. */
  free: number;
  hasSeats: boolean;
  /** The error code of the checkout; null if it succeeds. */
  reason: 'denied_by_rule' | 'no_seat_available' | null;
}

/** An instance that no client has. */
const NEW_INSTANCE = 'explained-instance';
/** What a client needs that has a seat. */
const HELD = { units: 0, free: 0, lingering: null };

export function createCheckoutForecast({ leases, pools, claims, endings }: Needs) {
  async function waitingAhead(
    pool: OpenPool,
    live: LeaseRow | null,
    fingerprint?: string,
  ): Promise<HeldSeat[]> {
    if (pool.row.queued === 0) return [];
    const place = live?.state === 'queued' && !isLeft(live, fingerprint) ? live.id : Infinity;
    const ahead: HeldSeat[] = [];
    for await (const client of pools.inLine(pool)) {
      if (client.id >= place) break;
      if (client.id !== live?.id) ahead.push(client);
    }
    return ahead;
  }

  /**
   * The lease that the checkout ends before it takes a seat: its client has left it, or the license no longer allows it.
   */
  async function endedLease(
    pool: OpenPool,
    live: LeaseRow | null,
    fingerprint: string | undefined,
  ): Promise<LeaseRow | null> {
    if (live === null || live.state === 'queued' || live.state === 'borrowed') return null;
    if (isLeft(live, fingerprint)) return live;
    return (await endings.obstacle(pool, live)) === null ? null : live;
  }

  /**
   * @param isUsable false if the checkout is refused for the license itself, before the device is looked at
   * @throws ApiError `invalid_request` if the client does not say what its seat is counted by, or asks on another device
   * than the one that holds it
   */
  return async (license: License, client: ForecastClient, isUsable = true): Promise<Forecast> => {
    const {
      instance_id: instance = NEW_INSTANCE,
      machine_fingerprint: fingerprint,
      units: wanted = 1,
      address = null,
    } = client;
    const request = { ...client, license_key: license.licenseKey, instance_id: instance, units: wanted };
    const draft = draftLease({ ...request, wait_seconds: 0, encrypt: false }, license, address);
    const pool = await pools.look(license);
    const live = await leases.findByInstance(license.id, instance);
    const ended = await endedLease(pool, live, fingerprint);
    const isHeld = live !== null && ended === null && holdsSeat(live);
    // The file of a borrowed seat stays bound to the device that borrowed it.
    if (isUsable && isHeld && live.state !== 'borrowed' && fingerprint !== undefined)
      checkDevice(live, fingerprint);
    const { units, free, lingering } = isHeld ? HELD : await claims(pool, draft, ended);
    const claim = { ...draft, takesOver: lingering?.id };
    const verdict = await pools.verdict(pool, claim, units);
    // The seat of a lease that ends is offered to waiting clients first, unless other leases share it.
    const needsNone = free <= 0 && (ended === null || units === 0);
    const waiting = needsNone ? [] : await waitingAhead(pool, live, fingerprint);
    const ahead = (await pools.mayPass(pool, claim, units, waiting)) ? 0 : waiting.length;
    const hasSeats = units === 0 || fits(pool, free);
    const isGranted = isHeld || (verdict.outcome === 'allowed' && ahead === 0 && hasSeats);
    const failure = verdict.outcome === 'denied' ? 'denied_by_rule' : 'no_seat_available';
    const countedAs = (isHeld ? live : draft).seatKey;
    return {
      pool,
      draft,
      countedAs,
      isHeld,
      verdict,
      ahead,
      free,
      hasSeats,
      reason: isGranted ? null : failure,
    };
  };
}

export type CheckoutForecast = ReturnType<typeof createCheckoutForecast>;
