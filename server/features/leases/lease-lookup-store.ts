// What a heartbeat needs, in one statement for many heartbeats.
import type { Sequelize } from 'sequelize';
import { GRACE_ENDS_AT } from '#server/database/grace-period.ts';
import type { Lookup } from '#server/database/batched-lookup.ts';
import type { WatchedTable } from '#server/database/changed-rows.ts';
import { sqlOf } from '#server/database/sql.ts';
import type { LeaseRow } from './lease-row.ts';

/** What a heartbeat shows of a lease, and the facts that decide whether it goes on. */
export interface LeaseFacts extends Pick<
  LeaseRow,
  'id' | 'licenseId' | 'state' | 'units' | 'seatKey' | 'product' | 'feature' | 'overdraft' | 'issuedAt'
> {
  revokedAt: number | null;
  graceEndsAt: number;
  licensing: string;
  /** Lease time. Follows the heartbeats that are answered from these facts. */
  dueAt: number;
  /** JSON list of what the license includes; null if the lease is not about a feature. */
  features: string | null;
  licenseProduct: string;
  /** Of the plan, in seconds. */
  leaseSeconds: number;
  seats: number | null;
  overdraftSeats: number;
  inUse: number;
}

const LEASE: Lookup<string> = {
  columns: `
    e.id AS "id", e.license_id AS "licenseId", e.state AS "state", e.units AS "units", e.seat_key AS "seatKey",
    e.product AS "product", e.feature AS "feature", e.overdraft AS "overdraft", e.issued_at AS "issuedAt",
    e.due_at AS "dueAt", l.revoked_at AS "revokedAt", ${GRACE_ENDS_AT} AS "graceEndsAt",
    p.licensing AS "licensing", CASE WHEN e.feature IS NULL THEN NULL ELSE p.features END AS "features",
    l.product AS "licenseProduct", p.lease_seconds AS "leaseSeconds", coalesce(l.own_seats, p.seats) AS "seats",
    coalesce(l.own_overdraft_seats, p.overdraft_seats) AS "overdraftSeats", o.in_use AS "inUse"`,
  from: `
    leases e
    JOIN licenses l ON l.id = e.license_id
    JOIN plans p ON p.id = l.plan_id
    JOIN lease_pools o ON o.license_id = e.license_id
    WHERE e.token_hash = $tokenHash`,
  values: (tokenHash) => ({ tokenHash }),
};

/** The leases that the statement reads, without what heartbeats themselves write. */
export const LEASE_SOURCES: readonly WatchedTable[] = [
  {
    table: 'leases',
    key: 'id',
    columns: ['token_hash', 'state', 'units', 'seat_key', 'product', 'feature', 'overdraft', 'issued_at'],
    // Only facts that were found are kept, so new leases change none of them.
    inserts: false,
  },
];

/**
 * The licenses that it reads. Seats in use are not among them: they can exceed the limit only after a license or a plan
 * was changed.
 */
export const LEASE_LICENSE_SOURCES: readonly WatchedTable[] = [
  {
    table: 'licenses',
    key: 'id',
    columns: ['product', 'plan_id', 'revoked_at', 'expires_at', 'own_seats', 'own_overdraft_seats'],
    inserts: false,
  },
  {
    table: 'plans',
    key: null,
    columns: ['licensing', 'features', 'grace_days', 'lease_seconds', 'seats', 'overdraft_seats'],
    inserts: false,
  },
];

export function createLeaseLookupStore(sequelize: Sequelize) {
  return {
    /** @param tokenHash lower-case hex SHA-256 of the lease token */
    findLease: sqlOf(sequelize).batched<string, LeaseFacts>(LEASE),
  };
}

export type LeaseLookupStore = ReturnType<typeof createLeaseLookupStore>;
