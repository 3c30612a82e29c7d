// What a heartbeat needs, in one statement for many heartbeats.
import type { Sequelize } from 'sequelize';
import type { Lookup } from '#server/database/batched-lookup.ts';
import { sqlOf } from '#server/database/sql.ts';
import { LEASE_COLUMNS, type LeaseRow } from './lease-row.ts';

/** A lease with the facts that decide whether it goes on. */
export interface LeaseFacts extends LeaseRow {
  revokedAt: number | null;
  graceEndsAt: number;
  licensing: string;
  /** JSON list of what the license includes. */
  features: string;
  licenseProduct: string;
  planLeaseSeconds: number;
  seats: number | null;
  overdraftSeats: number;
  inUse: number;
}

const LEASE: Lookup<string> = {
  select: `
    ${LEASE_COLUMNS}, l.revoked_at AS "revokedAt", l.expires_at + p.grace_days * 86400000 AS "graceEndsAt",
    p.licensing AS "licensing", p.features AS "features", l.product AS "licenseProduct",
    p.lease_seconds AS "planLeaseSeconds", coalesce(l.own_seats, p.seats) AS "seats",
    coalesce(l.own_overdraft_seats, p.overdraft_seats) AS "overdraftSeats", o.in_use AS "inUse"
    FROM leases e
    JOIN licenses l ON l.id = e.license_id
    JOIN plans p ON p.id = l.plan_id
    JOIN lease_pools o ON o.license_id = e.license_id
    WHERE e.token_hash = $tokenHash`,
  values: (tokenHash) => ({ tokenHash }),
};

export function createLeaseLookupStore(sequelize: Sequelize) {
  return {
    /** @param tokenHash lower-case hex SHA-256 of the lease token */
    findLease: sqlOf(sequelize).batched<string, LeaseFacts>(LEASE),
  };
}

export type LeaseLookupStore = ReturnType<typeof createLeaseLookupStore>;
