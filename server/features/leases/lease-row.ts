// A lease as it is stored.
import { insertValues, selectList } from '#server/database/column-lists.ts';
import { comparableName } from '#server/rules/lease-match.ts';
import type { LeaseEndReason, LeaseState } from './lease-contract.ts';

export interface LeaseRow {
  id: number;
  licenseId: number;
  instanceId: string;
  /** Of the lease token, or of the ticket while the lease is queued. */
  tokenHash: string;
  state: LeaseState;
  units: number;
  /** Leases of a license with the same key share one seat. */
  seatKey: string;
  product: string;
  feature: string | null;
  userName: string | null;
  /** For comparing; see `nameKey`. */
  userKey: string | null;
  host: string | null;
  hostKey: string | null;
  machineFingerprint: string | null;
  address: string | null;
  /** 1 if the seat was beyond the seats of the license when it was taken. */
  overdraft: number;
  /** 1 for a queued lease that a seat is held for. */
  offered: number;
  leaseSeconds: number;
  /** Wall time, as all times here except `dueAt` and `waitUntil`. */
  issuedAt: number;
  heartbeatAt: number;
  /** Lease time. */
  dueAt: number;
  /** Lease time. */
  waitUntil: number | null;
  borrowedUntil: number | null;
  endedAt: number | null;
  endReason: LeaseEndReason | null;
  endNote: string | null;
}

const COLUMNS: Record<keyof LeaseRow, string> = {
  id: 'id',
  licenseId: 'license_id',
  instanceId: 'instance_id',
  tokenHash: 'token_hash',
  state: 'state',
  units: 'units',
  seatKey: 'seat_key',
  product: 'product',
  feature: 'feature',
  userName: 'user_name',
  userKey: 'user_key',
  host: 'host',
  hostKey: 'host_key',
  machineFingerprint: 'machine_fingerprint',
  address: 'address',
  overdraft: 'overdraft',
  offered: 'offered',
  leaseSeconds: 'lease_seconds',
  issuedAt: 'issued_at',
  heartbeatAt: 'heartbeat_at',
  dueAt: 'due_at',
  waitUntil: 'wait_until',
  borrowedUntil: 'borrowed_until',
  endedAt: 'ended_at',
  endReason: 'end_reason',
  endNote: 'end_note',
};

const { id: _id, ...WRITTEN } = COLUMNS;

/** For a SELECT from `leases e`. */
export const LEASE_COLUMNS = selectList(COLUMNS, 'e');

/** For an INSERT. */
export const LEASE_VALUES = insertValues(WRITTEN);

/** For an UPDATE of a whole row. */
export const LEASE_CHANGES = Object.entries(WRITTEN)
  .map(([name, column]) => `${column} = $${name}`)
  .join(', ');

/** The key by which users and hosts are compared, as lease rules compare them. */
export function nameKey(name: string | null): string | null {
  return name === null ? null : comparableName(name);
}

/** The seat of a lease, or its part of a shared one. */
export type SeatOfLease = Pick<LeaseRow, 'state' | 'offered' | 'seatKey' | 'units'>;

/** Whether several live leases can have this seat key. A process has one live lease at most. */
export function isShareable(seatKey: string): boolean {
  return !seatKey.startsWith('process:');
}

/** Whether the lease holds a seat, or part of a shared one. */
export function holdsSeat({ state, offered }: Pick<LeaseRow, 'state' | 'offered'>): boolean {
  return (
    state === 'active' ||
    state === 'borrowed' ||
    state === 'lingering' ||
    (state === 'queued' && offered === 1)
  );
}
