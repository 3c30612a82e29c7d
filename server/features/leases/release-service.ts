// Releases leases, borrows their seats, and takes borrowed seats back.
import { afterCommit } from '#server/database/current-transaction.ts';
import type { Events } from '#server/features/events/event-service.ts';
import type { LicenseFiles } from '#server/features/signing/license-file-service.ts';
import type { Call } from '#server/platform/call.ts';
import type { Clock } from '#server/platform/clock.ts';
import { byKey } from '#server/rules/license-reference.ts';
import type { ReplyOf, RequestOf } from '#server/wire/endpoint.ts';
import { counted } from '#server/wire/counted.ts';
import { ApiError, refusedField } from '#server/wire/errors.ts';
import { toTimestamp } from '#server/wire/fields.ts';
import { HOUR_MS } from '#server/wire/instants.ts';
import type { DenialLog } from './denial-log.ts';
import type { LeaseCallLimit } from './lease-call-limit.ts';
import type { LeaseClock } from './lease-clock.ts';
import type { leaseContract, LeaseEndReason, PoolObject } from './lease-contract.ts';
import { endReasonOf, leaseGone, type LeaseEndings, unknownLease } from './lease-endings.ts';
import { checkDevice } from './lease-draft.ts';
import type { LeaseFiles } from './lease-files.ts';
import { toEventLease, toLeaseObject } from './lease-presenter.ts';
import type { LeaseRow } from './lease-row.ts';
import type { LeaseStore } from './lease-store.ts';
import type { OpenPool } from './open-pool.ts';
import type { SeatPools } from './seat-pools.ts';

interface Needs {
  leases: LeaseStore;
  pools: SeatPools;
  endings: LeaseEndings;
  files: LeaseFiles;
  licenseFiles: Pick<LicenseFiles, 'verify'>;
  denials: DenialLog;
  limit: LeaseCallLimit;
  events: Events;
  leaseClock: LeaseClock;
  clock: Clock;
  onChanged(): void;
}

type BorrowRequest = RequestOf<typeof leaseContract.borrowLease>;
type BorrowReply = ReplyOf<typeof leaseContract.borrowLease>;
type ReturnRequest = RequestOf<typeof leaseContract.returnLease>;

/** What the file of a borrowed seat says. */
interface BorrowedFile {
  /** Of the lease. */
  id: number;
  /** The start of the lease in epoch milliseconds, which a loan does not change. */
  issuedAt: number;
  fingerprint: string | null;
}

/** A refused borrow, which ends without an error so that its transaction commits. */
interface Refused {
  refused: string;
  lease: LeaseRow;
  pool: OpenPool;
  object: PoolObject;
}

/** The same for a lease that has ended, or ends because of it. */
interface Gone {
  gone: LeaseEndReason;
}

export function createReleaseService(needs: Needs) {
  const { leases, pools, endings, events, leaseClock, clock } = needs;

  /** Seats that the loan adds to those that are borrowed. */
  async function addedSeats({ licenseId, state, seatKey, units }: LeaseRow): Promise<number> {
    if (state === 'borrowed') return 0;
    const borrowed = await leases.borrowedUnits(licenseId, [seatKey]);
    return Math.max(0, units - (borrowed.get(seatKey) ?? 0));
  }

  /** Why the limits of the license do not allow the loan; null if they do. */
  function borrowObstacle(
    pool: OpenPool,
    lease: LeaseRow,
    request: BorrowRequest,
    added: number,
  ): string | null {
    const { seats, borrowMaxHours, borrowMaxCount, borrowKeepFree } = pool.license.terms;
    if (borrowMaxHours === 0) return 'the license does not allow borrowing';
    if (request.hours > borrowMaxHours)
      return `seats can be borrowed for at most ${counted(borrowMaxHours, 'hour')} (got ${request.hours})`;
    if (lease.state === 'borrowed') {
      const isSame = lease.machineFingerprint === request.machine_fingerprint;
      return isSame ? null : 'the seat is borrowed for another device';
    }
    const borrowed = pool.row.borrowed + added;
    if (borrowMaxCount !== null && borrowed > borrowMaxCount)
      return `at most ${counted(borrowMaxCount, 'seat')} can be borrowed at once`;
    // Without seats to keep, overdraft seats can be borrowed as well.
    if (borrowKeepFree > 0 && seats !== null && seats - borrowed < borrowKeepFree)
      return `the license keeps ${counted(borrowKeepFree, 'seat')} free from borrowing`;
    return null;
  }

  async function lend(
    lease: LeaseRow,
    pool: OpenPool,
    request: BorrowRequest,
    added: number,
  ): Promise<LeaseRow> {
    const at = clock.now();
    const asked = Math.min(at + request.hours * HOUR_MS, pool.license.graceEndsAt);
    const lentUntil = lease.state === 'borrowed' ? (lease.borrowedUntil ?? 0) : 0;
    // A file that was handed out stays valid, so its seat is not free before that.
    const until = Math.max(asked, lentUntil);
    const borrowed: LeaseRow = {
      ...lease,
      state: 'borrowed',
      machineFingerprint: request.machine_fingerprint,
      borrowedUntil: until,
      dueAt: leaseClock.now() + until - at,
      heartbeatAt: at,
    };
    await leases.update(borrowed);
    await pools.change(pool, { borrowed: added });
    const extra = { lease: toEventLease(borrowed), borrowed_until: toTimestamp(until) };
    if (until > lentUntil) {
      await events.emit({
        name: 'lease.borrowed',
        license: pool.license,
        machineFingerprint: request.machine_fingerprint,
        extra,
      });
    }
    afterCommit(needs.onChanged);
    return borrowed;
  }

  async function giveBack(pool: OpenPool, lease: LeaseRow): Promise<void> {
    await endings.end(pool, lease, { state: 'released', reason: 'returned' });
    await events.emit({
      name: 'lease.returned',
      license: pool.license,
      ...(lease.machineFingerprint === null ? {} : { machineFingerprint: lease.machineFingerprint }),
      extra: { lease: toEventLease(lease) },
    });
  }

  /** Releases a lease or returns a borrowed one. Nothing happens to one that has ended. */
  async function finish(lease: LeaseRow, pool: OpenPool): Promise<void> {
    if (lease.endedAt !== null || lease.state === 'lingering') return;
    if (lease.state === 'borrowed') await giveBack(pool, lease);
    else await endings.release(pool, lease);
  }

  /** @returns the lease that a borrowed file is for, and its device */
  async function readFile(text: string, request: ReturnRequest): Promise<BorrowedFile> {
    const { license_key: licenseKey, machine_fingerprint: fingerprint } = request;
    const file = await needs.licenseFiles.verify({
      text,
      kind: 'lease',
      fingerprint,
      product: undefined,
      licenseKey: licenseKey === undefined ? undefined : byKey(licenseKey).key,
    });
    // Anyone with a leaked key can write a file for any lease, so the file must not end one.
    if (file.reason === 'key_distrusted')
      throw refusedField(
        'lease_file',
        `is signed with the key ${file.keyId}, which is no longer trusted, because others can sign with it; ` +
          'return the seat with its lease_token, or have an administrator reclaim the lease',
      );
    if (file.lease === null) throw refusedField('lease_file', 'is not a lease file of this server');
    if (file.lease.state !== 'borrowed')
      throw refusedField('lease_file', 'is not the file of a borrowed seat');
    const { lease_id: id, issued_at: issuedAt } = file.lease;
    return { id, issuedAt: Date.parse(issuedAt), fingerprint: file.machine?.fingerprint ?? null };
  }

  /** A lease has one loan at most, so each of its borrowed files is of that loan, even if the loan was extended since. */
  async function returnByFile(text: string, request: ReturnRequest, call: Call): Promise<void> {
    const file = await readFile(text, request);
    needs.limit.countChange(file.id);
    const end = async (lease: LeaseRow, pool: OpenPool) => {
      // After a restore of an older database, another lease may have the ID.
      if (lease.issuedAt !== file.issuedAt) return null;
      if (lease.endedAt !== null) return true;
      // After such a restore, the lease may be lent to another device, or to none.
      if (lease.state !== 'borrowed' || lease.machineFingerprint !== file.fingerprint)
        throw refusedField(
          'lease_file',
          'is not for the current loan of its seat; return the seat by its lease_token, or have an administrator reclaim it',
        );
      await giveBack(pool, lease);
      return true;
    };
    const found = await endings.withLeaseId(file.id, end, call);
    if (found === null) throw unknownLease();
  }

  return {
    async release(token: string, call: Call) {
      await endings.withLease(token, finish, call, ['lds_', 'ldq_']);
      return { released: true as const };
    },

    async borrow(request: BorrowRequest, call: Call): Promise<BorrowReply> {
      await leaseClock.refresh();
      const outcome = await endings.withLease(
        request.lease_token,
        async (lease, pool): Promise<Refused | Gone | { lease: LeaseRow; pool: OpenPool }> => {
          if (lease.state !== 'active' && lease.state !== 'borrowed') return { gone: endReasonOf(lease) };
          const gone = await endings.obstacle(pool, lease);
          if (gone !== null) {
            if (lease.state === 'active' && endings.confirmed(gone) !== null)
              await endings.end(pool, lease, { state: 'reclaimed', reason: gone });
            return { gone };
          }
          const added = await addedSeats(lease);
          const refused = borrowObstacle(pool, lease, request, added);
          if (refused !== null) return { refused, lease, pool, object: await pools.toObject(pool) };
          checkDevice(lease, request.machine_fingerprint);
          return { lease: await lend(lease, pool, request, added), pool };
        },
        call,
      );
      if ('gone' in outcome) throw leaseGone(outcome.gone);
      const { lease, pool } = outcome;
      const { license } = pool;
      if ('refused' in outcome) {
        const { refused, object } = outcome;
        const denial = { license, pool: object, version: pool.row.version };
        await needs.denials.record(lease, { ...denial, code: 'borrow_limit_reached', verdict: null });
        throw new ApiError('borrow_limit_reached', refused, { fields: { details: { pool: object } } });
      }
      const times = { now: leaseClock.now(), at: clock.now() };
      const lease_file = await needs.files.issue({ license, lease, encrypt: request.encrypt, times });
      return { lease: toLeaseObject(lease, times), lease_file };
    },

    async giveBack(request: ReturnRequest, call: Call) {
      if (request.lease_token !== undefined) await endings.withLease(request.lease_token, finish, call);
      else await returnByFile(request.lease_file ?? '', request, call);
      return { returned: true as const };
    },
  };
}

export type ReleaseService = ReturnType<typeof createReleaseService>;
