// Ends leases: their clients release them, an administrator reclaims them, or their license no longer allows them.
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { TakeTurn } from '#server/database/turns.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import type { Caller } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { hashSecret, isSecretToken } from '#server/platform/secret-token.ts';
import { licenseVerdict, RULES_FOR } from '#server/rules/license-verdict.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { LeaseCallLimit } from './lease-call-limit.ts';
import type { LeaseEndReason } from './lease-contract.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { LeaseRow } from './lease-row.ts';
import { ENDS_AT_ONCE, type LeaseEnd, type LeaseStore } from './lease-store.ts';
import { excessSeats, type OpenPool } from './open-pool.ts';
import type { SeatPools } from './seat-pools.ts';

interface Needs {
  licenses: Pick<LicenseStore, 'find'>;
  leases: LeaseStore;
  pools: SeatPools;
  limit: LeaseCallLimit;
  transaction: RunTransaction;
  takeTurn: TakeTurn;
  leaseClock: LeaseClock;
  clock: Clock;
  isClockTrusted(): boolean;
  onChanged(): void;
}

const GONE: Record<LeaseEndReason, string> = {
  released: 'it was released',
  returned: 'its seat was returned',
  expired: 'it expired, because no heartbeat came in time',
  reclaimed: 'an administrator reclaimed it',
  seats_lowered: 'the license has fewer seats now',
  license_revoked: 'the license is revoked',
  license_expired: 'the license has expired',
  license_is_node_locked: 'the license is node-locked now',
  product_mismatch: 'the license is for another product now',
  feature_not_included: 'the license no longer includes the entitlement',
  replaced: 'another lease has taken its seat over',
  queue_lapsed: 'its client stopped asking for a seat',
};

/** @param lease one that has ended, or a lingering one, which its client has released */
export function endReasonOf({ endReason }: LeaseRow): LeaseEndReason {
  return endReason ?? 'released';
}

export function leaseGone(reason: LeaseEndReason): ApiError {
  return new ApiError('lease_gone', `the lease has ended: ${GONE[reason]}`, { fields: { reason } });
}

export function unknownLease(): ApiError {
  return new ApiError('token_invalid', 'the lease token is unknown');
}

/** Why the license no longer allows the lease; null if it does. */
function leaseObstacle(license: License, { feature }: LeaseRow, now: number): LeaseEndReason | null {
  if (license.licensing === 'node_locked') return 'license_is_node_locked';
  return licenseVerdict(RULES_FOR.lease, { license, feature: feature ?? undefined, now });
}

export function createLeaseEndings(needs: Needs) {
  const { licenses, leases, pools, transaction, takeTurn, leaseClock, clock } = needs;

  /** After seats were lowered, the newest seats end until the others fit. */
  async function isBeyondSeats(pool: OpenPool, lease: LeaseRow): Promise<boolean> {
    const excess = excessSeats(pool);
    return excess > 0 && (await leases.newerUnits(lease)) < excess;
  }

  /**
   * Ends those of the newest seats that no client uses, so that no older lease ends in favor of them. The next calls end
   * those that remain; until then, they count among the newest.
   */
  async function freeUnused(pool: OpenPool): Promise<void> {
    const excess = excessSeats(pool);
    if (excess === 0) return;
    const freed = await leases.freeUnused(pool.license.id, excess, clock.now(), ENDS_AT_ONCE);
    if (freed.length === 0) return;
    // A client that was offered a seat waits on, and still counts as waiting.
    await pools.settle(
      pool,
      freed.map((seat) => ({ ...seat, state: 'lingering', offered: 0 })),
    );
    afterCommit(needs.onChanged);
  }

  /**
   * Opens the pool of a license, whose seats may have been lowered.
   * @param find reads the license. Called once the pool is locked, perhaps twice
   */
  async function open(licenseId: number, find: () => Promise<License | null>): Promise<OpenPool> {
    const pool = await pools.open(licenseId, find);
    await freeUnused(pool);
    return pool;
  }

  const openOf = ({ licenseId }: LeaseRow): Promise<OpenPool> =>
    open(licenseId, () => licenses.find({ id: licenseId }));

  /** Why a lease ends at its next call; null if it goes on. */
  async function obstacle(pool: OpenPool, lease: LeaseRow): Promise<LeaseEndReason | null> {
    const reason = leaseObstacle(pool.license, lease, clock.now());
    // A borrowed seat stays with its device, whose file is valid until its end.
    if (reason !== null || lease.state === 'borrowed') return reason;
    return (await isBeyondSeats(pool, lease)) ? 'seats_lowered' : null;
  }

  /** The reason, unless only a clock that has jumped ahead gives it: an end is final. */
  const confirmed = (reason: LeaseEndReason | null): LeaseEndReason | null =>
    reason === 'license_expired' && !needs.isClockTrusted() ? null : reason;

  /** Ends a lease whose pool is open, and frees its seat. @param note an administrator's reason */
  async function end(
    pool: OpenPool,
    lease: LeaseRow,
    { state, reason }: Pick<LeaseEnd, 'state' | 'reason'>,
    note: string | null = null,
  ): Promise<LeaseRow> {
    const ended: LeaseRow = { ...lease, state, endedAt: clock.now(), endReason: reason, endNote: note };
    await leases.update(ended);
    await pools.settle(pool, [lease]);
    afterCommit(needs.onChanged);
    return ended;
  }

  /** Keeps the seat of a released lease for its holder, if the plan says so and no other lease shares the seat. */
  async function release(pool: OpenPool, lease: LeaseRow): Promise<void> {
    const { lingerSeconds } = pool.license.terms;
    if (lease.state === 'active' && lingerSeconds > 0) {
      await leases.update({ ...lease, state: 'lingering', dueAt: leaseClock.now() + lingerSeconds * 1000 });
      // No seat is freed, but one of its holders has changed.
      await pools.change(pool, {});
      afterCommit(needs.onChanged);
      return;
    }
    await end(pool, lease, {
      state: 'released',
      reason: lease.state === 'borrowed' ? 'returned' : 'released',
    });
  }

  return {
    open,
    obstacle,
    confirmed,
    end,
    release,

    /**
     * Locks the pool of the lease with this token, and runs `work` with both.
     * @throws ApiError `token_invalid`, `rate_limited`
     */
    async withLease<Result>(
      token: string,
      work: (lease: LeaseRow, pool: OpenPool) => Promise<Result>,
      caller: Caller | undefined,
      prefixes: readonly ('lds_' | 'ldq_')[] = ['lds_'],
    ): Promise<Result> {
      if (!prefixes.some((prefix) => isSecretToken(prefix, token))) throw unknownLease();
      const tokenHash = hashSecret(token);
      const found = await leases.findByTokenHash(tokenHash);
      if (!found) throw unknownLease();
      needs.limit.countChange(found.id);
      const change = () =>
        transaction(async () => {
          const pool = await openOf(found);
          // Read again under the lock: another call may have ended it, or taken its token.
          const lease = await leases.findByTokenHash(tokenHash);
          if (!lease) throw unknownLease();
          return work(lease, pool);
        }, caller);
      return takeTurn(found.licenseId, change, caller);
    },

    /** The same for the lease with this ID; null if there is none. */
    async withLeaseId<Result>(
      id: number,
      work: (lease: LeaseRow, pool: OpenPool) => Promise<Result>,
      caller?: Caller,
    ): Promise<Result | null> {
      const found = await leases.findById(id);
      if (!found) return null;
      const change = () =>
        transaction(async () => {
          const pool = await openOf(found);
          const lease = await leases.findById(id);
          return lease && work(lease, pool);
        }, caller);
      return takeTurn(found.licenseId, change, caller);
    },
  };
}

export type LeaseEndings = ReturnType<typeof createLeaseEndings>;
