// Grants leases, or a place in the queue. Everything that decides runs under the lock of the license's pool.
import { afterCommit } from '#server/database/current-transaction.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { TakeTurn } from '#server/database/turns.ts';
import type { License } from '#server/rules/license.ts';
import type { LicenseStore } from '#server/features/licenses/license-store.ts';
import { Accepted } from '#server/platform/accepted.ts';
import type { Call, Caller } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { recentMap } from '#server/platform/recent-map.ts';
import { byKey, requireLicense } from '#server/rules/license-reference.ts';
import { refuseLease, seatsTaken } from '#server/rules/license-refusals.ts';
import type { ReplyOf } from '#server/wire/endpoint.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import type { leaseContract, PoolObject, QueuedCheckout } from './lease-contract.ts';
import type { LeaseClock } from './lease-clock.ts';
import { checkDevice, type CheckoutRequest, draftLease, isLeft, type LeaseDraft } from './lease-draft.ts';
import type { LeaseEndings } from './lease-endings.ts';
import type { LeaseFiles } from './lease-files.ts';
import { isQueueFull, type LeaseGrants, type Outcome, pollSeconds, queueFull } from './lease-grants.ts';
import type { DenialLog } from './denial-log.ts';
import type { LeaseCallLimit } from './lease-call-limit.ts';
import { toLeaseObject } from './lease-presenter.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { SeatClaims } from './seat-claims.ts';
import { fits, isWithinLimit, type OpenPool } from './open-pool.ts';
import type { SeatPools } from './seat-pools.ts';

type Reply = ReplyOf<typeof leaseContract.checkoutLease>;
type Denied = Extract<Outcome, { kind: 'denied' }>;
type Served = Extract<Outcome, { kind: 'granted' | 'queued' }>;

/** A full queue is expected to stay full for this long. Clients that were refused retry sooner. */
const STAYS_FULL_MS = 30_000;
const MAX_FULL_QUEUES = 1000;

interface Needs {
  licenses: Pick<LicenseStore, 'find' | 'lookUp' | 'update'>;
  leases: LeaseStore;
  pools: SeatPools;
  claims: SeatClaims;
  grants: LeaseGrants;
  endings: Pick<LeaseEndings, 'open' | 'obstacle' | 'end' | 'release'>;
  files: LeaseFiles;
  denials: DenialLog;
  limit: LeaseCallLimit;
  transaction: RunTransaction;
  takeTurn: TakeTurn;
  leaseClock: LeaseClock;
  clock: Clock;
  /** Called after leases have changed. */
  onChanged(): void;
}

export function createCheckoutService(needs: Needs) {
  const { licenses, leases, pools, grants, endings, files, denials, transaction, leaseClock, clock } = needs;
  /** Lease time of the last refusal here, by license. */
  const fullAt = recentMap<number, number>(MAX_FULL_QUEUES);

  const mayBeFull = (licenseId: number): boolean =>
    leaseClock.now() - (fullAt.get(licenseId) ?? -Infinity) < STAYS_FULL_MS;

  function usable(found: License | null, request: CheckoutRequest): License {
    const license = requireLicense(found);
    const { product_slug: product, feature } = request;
    refuseLease(license, { product, feature }, clock.now());
    return license;
  }

  async function takeSeat(pool: OpenPool, draft: LeaseDraft, waitSeconds: number): Promise<Outcome> {
    // Waiting clients are served first. One of them may share the seat of this client, or take what a rule leaves to both.
    const ahead = await pools.offer(pool);
    const { units, free, lingering } = await needs.claims(pool, draft);
    const claim = { ...draft, takesOver: lingering?.id };
    const verdict = await pools.verdict(pool, claim, units);
    if (verdict.outcome === 'denied') return { kind: 'denied', pool, verdict, free };
    const isTaken =
      verdict.outcome === 'allowed' &&
      (units === 0 || fits(pool, free)) &&
      (free <= 0 || (await pools.mayPass(pool, claim, units, ahead))) &&
      // Also without a further seat: its holders change.
      (await pools.change(pool, { taken: free }));
    if (!isTaken) {
      const canWait = waitSeconds > 0 && isWithinLimit(pool, draft.units);
      return canWait ? grants.enqueue(pool, draft, waitSeconds) : { kind: 'denied', pool, verdict, free };
    }
    if (lingering)
      await leases.update({ ...lingering, state: 'released', endedAt: clock.now(), endReason: 'replaced' });
    return grants.grant(pool, draft, lingering);
  }

  /**
   * The lease that the client gets again, for the device that it names; null if it has none, has left it on another
   * device, or the license no longer allows it.
   */
  async function recoverable(
    pool: OpenPool,
    live: LeaseRow | null,
    { machine_fingerprint: fingerprint }: CheckoutRequest,
  ): Promise<LeaseRow | null> {
    // The file of a borrowed seat stays bound to the device that borrowed it.
    if (live === null || live.state === 'borrowed') return live;
    const reason = live.state === 'queued' ? null : await endings.obstacle(pool, live);
    if (reason !== null) {
      await endings.end(pool, live, { state: 'reclaimed', reason });
      return null;
    }
    if (isLeft(live, fingerprint)) {
      await endings.release(pool, live);
      return null;
    }
    if (fingerprint === undefined) return live;
    checkDevice(live, fingerprint);
    return { ...live, machineFingerprint: fingerprint };
  }

  const checkOutLocked = (
    licenseId: number,
    request: CheckoutRequest,
    address: string | null,
    caller: Caller,
  ): Promise<Outcome> =>
    transaction(async () => {
      const pool = await endings.open(licenseId, async () =>
        usable(await licenses.find(byKey(request.license_key)), request),
      );
      const { license } = pool;
      const draft = draftLease(request, license, address);
      // After the lock: another server may have ended the lease meanwhile.
      const found = await leases.findByInstance(licenseId, request.instance_id);
      const live = await recoverable(pool, found, request);
      const outcome = await (live?.state === 'queued'
        ? grants.continueWaiting(pool, live, request)
        : live
          ? grants.recover(pool, live)
          : takeSeat(pool, draft, request.wait_seconds));
      afterCommit(needs.onChanged);
      if (outcome.kind !== 'granted' || license.firstActivatedAt !== null) return outcome;
      const firstActivatedAt = clock.now();
      await licenses.update(license.id, { firstActivatedAt });
      // For its state in the lease file.
      return { ...outcome, pool: { ...outcome.pool, license: { ...license, firstActivatedAt } } };
    }, caller);

  /**
   * Refuses without a transaction if it is certain that no seat is free, nor a place in the queue if the client wants one.
   * When everyone is refused, refusals must not keep the writer busy. Queues are rarely full, so this looks at one only
   * after this server has refused a client there.
   */
  async function refuseEarly(
    request: CheckoutRequest,
    license: License,
    draft: LeaseDraft,
  ): Promise<Outcome | null> {
    const waits = request.wait_seconds > 0;
    if (request.ticket !== undefined || (waits && !mayBeFull(license.id))) return null;
    const pool = await pools.look(license);
    if ((waits && !isQueueFull(pool)) || fits(pool, draft.units)) return null;
    if (await leases.findByInstance(license.id, draft.instanceId)) return null;
    if ((await leases.seatUnits(license.id, draft.seatKey)) > 0) return null;
    if (license.terms.lingerSeconds > 0 && (await leases.findLingering(draft))) return null;
    const verdict = await pools.verdict(pool, draft, draft.units);
    if (waits && verdict.outcome !== 'denied' && isWithinLimit(pool, draft.units)) return { kind: 'full' };
    return { kind: 'denied', pool, verdict, free: draft.units };
  }

  function whyNone({ pool, verdict, free }: Denied, units: number): string {
    const { limit, license, row } = pool;
    if (!isWithinLimit(pool, units))
      return `units must be at most ${limit}, the seats of the license including overdraft (got ${units})`;
    if (verdict.outcome === 'max') return `a lease rule limits the seats of this client: ${verdict.rule}`;
    if (verdict.outcome === 'reserved' && verdict.ruleId !== null)
      return `a lease rule reserves the free seats for other clients: ${verdict.rule}`;
    if (!fits(pool, 1)) return seatsTaken(license.terms.seats);
    if (fits(pool, free)) return 'other clients are waiting for the free seats';
    return `the checkout needs ${free} free seats, and the license has ${(limit ?? 0) - row.inUse}`;
  }

  async function refuse(draft: LeaseDraft, denied: Denied): Promise<never> {
    const { pool, verdict } = denied;
    const object: PoolObject = await pools.toObject(pool);
    const code = verdict.outcome === 'denied' ? 'denied_by_rule' : 'no_seat_available';
    await denials.record(draft, {
      code,
      verdict,
      pool: object,
      license: pool.license,
      version: pool.row.version,
    });
    if (verdict.outcome === 'denied')
      throw new ApiError(code, `a lease rule denies the checkout: ${verdict.rule}`);
    const dueAt = await leases.nextDue(draft.licenseId);
    const seconds = dueAt === null ? null : Math.max(0, Math.ceil((dueAt - leaseClock.now()) / 1000));
    throw new ApiError(code, whyNone(denied, draft.units), {
      fields: { details: { pool: object, next_expiry_in: seconds }, next_expiry_in: seconds },
    });
  }

  async function toReply(outcome: Served, request: CheckoutRequest) {
    const times = { now: leaseClock.now(), at: clock.now() };
    const lease = toLeaseObject(outcome.lease, times);
    const pool = await pools.toObject(outcome.pool);
    if (outcome.kind === 'granted') {
      const { license } = outcome.pool;
      const lease_file = await files.issue({
        license,
        lease: outcome.lease,
        encrypt: request.encrypt,
        times,
      });
      return { lease, lease_token: outcome.token, lease_file, pool } satisfies Reply;
    }
    const position = await leases.position(lease.license_id, lease.lease_id);
    const waiting: QueuedCheckout = {
      queued: true,
      ticket: outcome.ticket,
      position: Math.max(1, position),
      poll_after_seconds: pollSeconds(position),
      lease,
      pool,
    };
    return new Accepted(waiting);
  }

  return {
    async checkOut(request: CheckoutRequest, call: Call): Promise<Reply | Accepted> {
      if (request.encrypt && request.machine_fingerprint === undefined)
        throw refusedField('machine_fingerprint', 'is required to encrypt the lease file');
      const address = call.address ?? null;
      const license = usable(await licenses.lookUp(byKey(request.license_key).key), request);
      needs.limit.count(license.id);
      const draft = draftLease(request, license, address);
      await leaseClock.refresh();
      // Asked again when its turn has come: the last seat may be gone by then.
      const outcome =
        (await refuseEarly(request, license, draft)) ??
        (await needs.takeTurn(
          license.id,
          async (hasWaited) =>
            (hasWaited && (await refuseEarly(request, license, draft))) ||
            checkOutLocked(license.id, request, address, call),
          call,
        ));
      if (outcome.kind === 'full') {
        fullAt.set(license.id, leaseClock.now());
        throw queueFull();
      }
      return outcome.kind === 'denied' ? refuse(draft, outcome) : toReply(outcome, request);
    },
  };
}

export type CheckoutService = ReturnType<typeof createCheckoutService>;
