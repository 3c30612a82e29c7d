// Extends leases. Most heartbeats find their lease in memory, and write nothing themselves.
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { hashSecret, isSecretToken } from '#server/platform/secret-token.ts';
import { seatLimit } from '#server/rules/floating-terms.ts';
import { licenseVerdict, RULES_FOR } from '#server/rules/license-verdict.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { ApiError } from '#server/wire/errors.ts';
import type { HeartbeatBuffer } from './heartbeat-buffer.ts';
import type { LeaseCallLimit } from './lease-call-limit.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { leaseContract, LeaseEndReason, LeaseObject } from './lease-contract.ts';
import { endReasonOf, leaseGone, type LeaseEndings, unknownLease } from './lease-endings.ts';
import type { LeaseLookup } from './lease-lookup.ts';
import type { LeaseFacts } from './lease-lookup-store.ts';
import { toLeaseObject } from './lease-presenter.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { OpenPool } from './open-pool.ts';
import type { SeatOverdraft } from './seat-overdraft.ts';
import type { SeatPools } from './seat-pools.ts';

interface Needs {
  lookup: LeaseLookup;
  leases: LeaseStore;
  pools: SeatPools;
  overdraftOf: SeatOverdraft;
  endings: LeaseEndings;
  buffer: HeartbeatBuffer;
  limit: LeaseCallLimit;
  leaseClock: LeaseClock;
  clock: Clock;
}

type Reply = ReplyOf<typeof leaseContract.heartbeatLeases>;
type Entry = NonNullable<Reply['leases']>[number];

export function createHeartbeatService(needs: Needs) {
  const { lookup, leases, pools, endings, buffer, leaseClock, clock } = needs;
  const present = (lease: LeaseRow): LeaseObject =>
    toLeaseObject(lease, { now: leaseClock.now(), at: clock.now() });

  /** Whether the facts leave no doubt that the lease goes on. */
  function goesOn(lease: LeaseFacts): boolean {
    if (lease.state !== 'active' || lease.licensing !== 'floating') return false;
    // It may be ending now, here or on another server.
    if (lease.dueAt <= leaseClock.now()) return false;
    const limit = seatLimit(lease);
    if (limit !== null && lease.inUse > limit) return false;
    const { revokedAt, graceEndsAt, licenseProduct: product } = lease;
    const features = lease.features === null ? [] : (JSON.parse(lease.features) as string[]);
    const license = { revokedAt, graceEndsAt, product, features };
    const feature = lease.feature ?? undefined;
    const reason = licenseVerdict(RULES_FOR.lease, { license, feature, now: clock.now() });
    return endings.confirmed(reason) === null;
  }

  function extended(lease: LeaseRow, leaseSeconds: number): LeaseRow {
    const dueAt = leaseClock.now() + leaseSeconds * 1000;
    return { ...lease, leaseSeconds, dueAt, heartbeatAt: clock.now() };
  }

  /** Takes the seat of an expired lease again, if it is free and no client waits for it. */
  async function revive(pool: OpenPool, lease: LeaseRow): Promise<LeaseRow | 'expired'> {
    if (await leases.findByInstance(lease.licenseId, lease.instanceId)) return 'expired';
    // Waiting clients are served first. One of them may share the seat.
    const ahead = await pools.offer(pool);
    const units = await pools.missingUnits(pool, lease);
    const { outcome } = await pools.verdict(pool, lease, units);
    const isFree = outcome === 'allowed' && (units === 0 || (await pools.mayPass(pool, lease, units, ahead)));
    // Also without a further seat: its holders change.
    if (!isFree || !(await pools.change(pool, { taken: units }))) return 'expired';
    const { leaseSeconds } = pool.license.terms;
    const overdraft = await needs.overdraftOf(pool, lease);
    const ended = { endedAt: null, endReason: null };
    const revived: LeaseRow = { ...extended(lease, leaseSeconds), state: 'active', overdraft, ...ended };
    await leases.update(revived);
    return revived;
  }

  /** Decides under the lock of the pool, for everything but a plain extension. @returns the reason of an end */
  async function decide(lease: LeaseRow, pool: OpenPool): Promise<LeaseRow | LeaseEndReason> {
    const canRevive = lease.state === 'expired' && lease.endReason === 'expired';
    if (lease.state === 'lingering' || (lease.endedAt !== null && !canRevive)) return endReasonOf(lease);
    const reason = endings.confirmed(await endings.obstacle(pool, lease));
    if (canRevive) {
      if (reason !== null) return reason === 'seats_lowered' ? 'expired' : reason;
      return revive(pool, lease);
    }
    // Its file is valid until its end, even if the license is revoked.
    if (lease.state === 'borrowed') return lease;
    if (reason !== null) {
      await endings.end(pool, lease, { state: 'reclaimed', reason });
      return reason;
    }
    const kept = extended(lease, pool.license.terms.leaseSeconds);
    await leases.update(kept);
    return kept;
  }

  async function decideLocked(token: string, call: Call): Promise<LeaseObject> {
    await leaseClock.refresh();
    // The reason is returned, not thrown: a throw would undo the end of the lease, or of others.
    const decided = await endings.withLease(token, decide, call);
    if (typeof decided === 'string') throw leaseGone(decided);
    return present(decided);
  }

  /** Extends the lease in the buffer. @returns null if only a transaction can decide about it */
  function extend(lease: LeaseFacts): LeaseObject | null {
    needs.limit.countHeartbeat(lease.id);
    if (!goesOn(lease)) return null;
    const times = { now: leaseClock.now(), at: clock.now() };
    buffer.add(lease.id, lease.leaseSeconds);
    lease.dueAt = times.now + lease.leaseSeconds * 1000;
    return toLeaseObject({ ...lease, borrowedUntil: null, endedAt: null }, times);
  }

  async function lookUp(token: string, tokenHash: string, call: Call): Promise<LeaseObject> {
    const lease = await lookup.find(tokenHash);
    if (!lease) throw unknownLease();
    return extend(lease) ?? decideLocked(token, call);
  }

  /** Answers without a promise if the lease is in memory. */
  function beat(token: string, call: Call): LeaseObject | Promise<LeaseObject> {
    if (!isSecretToken('lds_', token)) throw unknownLease();
    const tokenHash = hashSecret(token);
    const known = lookup.known(tokenHash);
    if (!known) return lookUp(token, tokenHash, call);
    return extend(known) ?? decideLocked(token, call);
  }

  function toEntry(error: unknown): Entry {
    if (!(error instanceof ApiError)) throw error;
    const { reason } = (error.fields ?? {}) as { reason?: LeaseEndReason };
    return { error_code: error.code, message: error.message, ...(reason ? { reason } : {}) };
  }

  function beatOne(token: string, call: Call): Entry | Promise<Entry> {
    try {
      const lease = beat(token, call);
      return lease instanceof Promise ? lease.then((found) => ({ lease: found }), toEntry) : { lease };
    } catch (error) {
      return toEntry(error);
    }
  }

  async function beatMany(tokens: readonly string[], token: string | undefined, call: Call): Promise<Reply> {
    const entries = await Promise.all(tokens.map((each) => beatOne(each, call)));
    return { leases: entries, ...(token === undefined ? {} : { lease: await beat(token, call) }) };
  }

  return {
    /** Answers without a promise if the leases are in memory. */
    heartbeat(
      { lease_token: token, leases: tokens }: RequestOf<typeof leaseContract.heartbeatLeases>,
      call: Call,
    ): Reply | Promise<Reply> {
      if (tokens !== undefined) return beatMany(tokens, token, call);
      const lease = beat(token ?? '', call);
      return lease instanceof Promise ? lease.then((found) => ({ lease: found })) : { lease };
    },
  };
}

export type HeartbeatService = ReturnType<typeof createHeartbeatService>;
