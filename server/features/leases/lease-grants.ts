// Writes what a checkout decides: a new lease, a recovered one, or a place in the queue. The caller holds the pool.
import type { Clock } from '#server/platform/clock.ts';
import { createSecretToken, hashSecret, isSecretToken } from '#server/platform/secret-token.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { LeaseClock } from './lease-clock.ts';
import { MAX_WAIT_SECONDS } from './lease-state-contract.ts';
import type { CheckoutRequest, LeaseDraft } from './lease-draft.ts';
import type { LeaseVerdict } from './lease-judge.ts';
import { isShareable, type LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import { excessSeats, type OpenPool } from './open-pool.ts';
import type { SeatOverdraft } from './seat-overdraft.ts';
import type { SeatPools } from './seat-pools.ts';

/** How a checkout ends. */
export type Outcome =
  | { kind: 'granted'; lease: LeaseRow; token: string; pool: OpenPool }
  | { kind: 'queued'; lease: LeaseRow; ticket: string; pool: OpenPool }
  /** No more clients can wait. Not thrown, so that the transaction commits the ends of leases. */
  | { kind: 'full' }
  | {
      kind: 'denied';
      pool: OpenPool;
      verdict: LeaseVerdict;
      /** How many seats the client needs to be free. */
      free: number;
    };

/** What a client says that has a place in the queue. */
type Waiting = Pick<CheckoutRequest, 'ticket' | 'wait_seconds'>;

interface Needs {
  leases: LeaseStore;
  pools: SeatPools;
  overdraftOf: SeatOverdraft;
  leaseClock: LeaseClock;
  clock: Clock;
}

/** How often waiting clients ask; clients far behind ask less often. */
const POLL_SECONDS = 5;
const FAR_POLL_SECONDS = 15;
const FAR_POSITION = 100;

export function pollSeconds(position: number): number {
  return position > FAR_POSITION ? FAR_POLL_SECONDS : POLL_SECONDS;
}

/** Clients that wait for one license. Each call of theirs may look at all of them, while other changes wait. */
const MAX_WAITING = 1000;

export const isQueueFull = ({ row }: OpenPool): boolean => row.queued >= MAX_WAITING;

export function queueFull(): ApiError {
  return new ApiError(
    'overloaded',
    `${MAX_WAITING} clients are waiting for seats of the license; retry later`,
    {
      headers: { 'Retry-After': String(pollSeconds(MAX_WAITING)) },
    },
  );
}

export function createLeaseGrants({ leases, pools, overdraftOf, leaseClock, clock }: Needs) {
  /** When a waiting client that does not ask again loses its place. */
  const waitsUntil = (position: number) => leaseClock.now() + 2 * pollSeconds(position) * 1000;

  /** The state of a lease that is granted now. */
  function granted(overdraft: number, leaseSeconds: number) {
    return {
      state: 'active' as const,
      overdraft,
      offered: 0,
      leaseSeconds,
      heartbeatAt: clock.now(),
      dueAt: leaseClock.now() + leaseSeconds * 1000,
      waitUntil: null,
    };
  }

  function insert(
    draft: LeaseDraft,
    fields: Pick<LeaseRow, 'tokenHash' | 'state' | 'dueAt'> & Partial<LeaseRow>,
  ) {
    const at = clock.now();
    const ended = { endedAt: null, endReason: null, endNote: null };
    const times = { issuedAt: at, heartbeatAt: at, waitUntil: null, borrowedUntil: null };
    return leases.insert({ ...draft, overdraft: 0, offered: 0, ...times, ...ended, ...fields });
  }

  /** Whether another lease holds all of the seat, so that the client needs none that others wait for. */
  async function sharesSeat(pool: OpenPool, lease: LeaseRow): Promise<boolean> {
    if (!isShareable(lease.seatKey) || (await pools.missingUnits(pool, lease)) > 0) return false;
    return (await pools.verdict(pool, lease, 0)).outcome === 'allowed';
  }

  /** Gives the offered seat, or one that it shares, to the client that waited for it. */
  async function takeOffer(pool: OpenPool, lease: LeaseRow): Promise<Outcome> {
    const token = createSecretToken('lds_');
    const taken = granted(await overdraftOf(pool, lease), pool.license.terms.leaseSeconds);
    const active: LeaseRow = { ...lease, ...taken, issuedAt: clock.now(), tokenHash: token.hash };
    await leases.update(active);
    await pools.change(pool, { queued: -1 });
    return { kind: 'granted', lease: active, token: token.plaintext, pool };
  }

  /** Keeps the place of a waiting client, with its ticket or, if it lost that, a new one. */
  async function keepPlace(
    pool: OpenPool,
    lease: LeaseRow,
    { ticket: given, wait_seconds: waitSeconds }: Waiting,
  ): Promise<Outcome> {
    const isSame =
      given !== undefined && isSecretToken('ldq_', given) && hashSecret(given) === lease.tokenHash;
    const fresh = isSame ? null : createSecretToken('ldq_');
    const kept: LeaseRow = {
      ...lease,
      tokenHash: fresh?.hash ?? lease.tokenHash,
      heartbeatAt: clock.now(),
      dueAt: waitsUntil(await leases.position(lease.licenseId, lease.id)),
      // A client that repeats its request as it was is refused when the time it named has passed. With the longest time,
      // it waits until it stops asking.
      waitUntil: waitSeconds === MAX_WAIT_SECONDS ? leaseClock.now() + waitSeconds * 1000 : lease.waitUntil,
    };
    await leases.update(kept);
    return { kind: 'queued', lease: kept, ticket: fresh?.plaintext ?? (given as string), pool };
  }

  return {
    /** A lease whose seats the caller has taken. @param takenOver a lease whose seat it takes over */
    async grant(pool: OpenPool, draft: LeaseDraft, takenOver: LeaseRow | null): Promise<Outcome> {
      const token = createSecretToken('lds_');
      const overdraft = await overdraftOf(pool, draft, takenOver);
      const lease = await insert(draft, { ...granted(overdraft, draft.leaseSeconds), tokenHash: token.hash });
      return { kind: 'granted', lease, token: token.plaintext, pool };
    },

    /** A live lease whose client lost its token: the old token is void from now on. */
    async recover(pool: OpenPool, lease: LeaseRow): Promise<Outcome> {
      const token = createSecretToken('lds_');
      const extended = granted(lease.overdraft, pool.license.terms.leaseSeconds);
      const kept = lease.state === 'borrowed' ? { state: lease.state, dueAt: lease.dueAt } : {};
      const recovered: LeaseRow = { ...lease, ...extended, ...kept, tokenHash: token.hash };
      await leases.update(recovered);
      // No seat is taken, but one of its holders has changed.
      if (lease.state === 'lingering') await pools.change(pool, {});
      return { kind: 'granted', lease: recovered, token: token.plaintext, pool };
    },

    async enqueue(pool: OpenPool, draft: LeaseDraft, waitSeconds: number): Promise<Outcome> {
      if (isQueueFull(pool)) return { kind: 'full' };
      const ticket = createSecretToken('ldq_');
      const lease = await insert(draft, {
        tokenHash: ticket.hash,
        state: 'queued',
        dueAt: waitsUntil(pool.row.queued + 1),
        waitUntil: leaseClock.now() + waitSeconds * 1000,
      });
      await pools.change(pool, { queued: 1 });
      return { kind: 'queued', lease, ticket: ticket.plaintext, pool };
    },

    /** Answers a waiting client that asks again. @param waiting with the device that it names now */
    async continueWaiting(pool: OpenPool, waiting: LeaseRow, request: Waiting): Promise<Outcome> {
      // It asks a moment too late, but before its place is gone.
      if (waiting.dueAt <= leaseClock.now())
        await leases.update({
          ...waiting,
          dueAt: waitsUntil(await leases.position(waiting.licenseId, waiting.id)),
        });
      await pools.offer(pool);
      const { machineFingerprint } = waiting;
      const lease = { ...((await leases.findById(waiting.id)) ?? waiting), machineFingerprint };
      // After seats were lowered, the offer may be one of those that are still to be taken back.
      if (lease.offered === 1 && excessSeats(pool) === 0) return takeOffer(pool, lease);
      if (lease.offered === 0 && (await sharesSeat(pool, lease))) return takeOffer(pool, lease);
      // A client that neither waits nor names its ticket does not know that it has a place.
      const waits = request.wait_seconds > 0 || request.ticket !== undefined;
      if (waits && leaseClock.now() < (lease.waitUntil ?? 0)) return keepPlace(pool, lease, request);
      const free = await pools.missingUnits(pool, lease);
      const verdict = await pools.verdict(pool, lease, free);
      await leases.update({ ...lease, state: 'expired', endedAt: clock.now(), endReason: 'queue_lapsed' });
      await pools.settle(pool, [lease]);
      return { kind: 'denied', pool, verdict, free };
    },
  };
}

export type LeaseGrants = ReturnType<typeof createLeaseGrants>;
