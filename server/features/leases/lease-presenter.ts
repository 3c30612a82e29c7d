// Public representations of leases.
import { toTimestamp, toTimestampOrNull } from '#server/wire/fields.ts';
import type { LeaseRecord, SeatHolder } from './lease-admin-contract.ts';
import type { LeaseObject } from './lease-contract.ts';
import type { LeaseRow } from './lease-row.ts';
import type { Holder } from './lease-store.ts';

export interface Times {
  /** Lease time. */
  now: number;
  /** Wall time in epoch milliseconds. */
  at: number;
}

/** When the lease ends without a heartbeat, or has ended, in wall time. */
export function endOf(
  { endedAt, borrowedUntil, state, dueAt }: Pick<LeaseRow, 'endedAt' | 'borrowedUntil' | 'state' | 'dueAt'>,
  { now, at }: Times,
): number {
  if (endedAt !== null) return endedAt;
  return state === 'borrowed' && borrowedUntil !== null ? borrowedUntil : at + Math.max(0, dueAt - now);
}

/** What clients see of a lease. */
type ShownLease = Pick<
  LeaseRow,
  | 'id'
  | 'licenseId'
  | 'state'
  | 'units'
  | 'seatKey'
  | 'product'
  | 'feature'
  | 'overdraft'
  | 'issuedAt'
  | 'leaseSeconds'
  | 'dueAt'
  | 'borrowedUntil'
  | 'endedAt'
>;

export function toLeaseObject(lease: ShownLease, times: Times): LeaseObject {
  const end = endOf(lease, times);
  return {
    lease_id: lease.id,
    state: lease.state,
    units: lease.units,
    license_id: lease.licenseId,
    product_slug: lease.product,
    feature: lease.feature,
    issued_at: toTimestamp(lease.issuedAt),
    expires_at: toTimestamp(end),
    expires_in: lease.endedAt === null ? Math.max(0, Math.ceil((end - times.at) / 1000)) : 0,
    heartbeat_seconds: Math.floor(lease.leaseSeconds / 3),
    overdraft: lease.overdraft === 1,
    counted_as: lease.seatKey,
  };
}

/** A lease with what administrators see of it. */
export interface ListedLease extends LeaseRow {
  licenseKey: string;
  holder: string;
  /** Place in the queue; null unless it waits. */
  position: number | null;
}

export function toLeaseRecord(lease: ListedLease, times: Times): LeaseRecord {
  return {
    ...toLeaseObject(lease, times),
    license_key: lease.licenseKey,
    holder: lease.holder,
    user: lease.userName,
    host: lease.host,
    machine_fingerprint: lease.machineFingerprint,
    address: lease.address,
    instance_id: lease.instanceId,
    heartbeat_at: toTimestamp(lease.heartbeatAt),
    borrowed_until: toTimestampOrNull(lease.borrowedUntil),
    ended_at: toTimestampOrNull(lease.endedAt),
    end_reason: lease.endReason,
    end_note: lease.endNote,
    position: lease.position,
  };
}

export function toHolder({ id, userName, host, units, state, issuedAt }: Holder): SeatHolder {
  return { lease_id: id, user: userName, host, units, state, issued_at: toTimestamp(issuedAt) };
}

/** The lease in the body of an event. */
export function toEventLease({ id, userName, host, machineFingerprint, units, feature }: LeaseRow) {
  return { lease_id: id, user: userName, host, machine_fingerprint: machineFingerprint, units, feature };
}
