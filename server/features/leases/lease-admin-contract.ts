// Floating licenses for administrators and integrators: who holds seats, who was refused, how many seats are needed.
import { z } from 'zod';
import { LICENSE_STATES, licenseRef } from '#server/features/licenses/license-contract.ts';
import { endpoint } from '#server/wire/endpoint.ts';
import {
  id,
  moment,
  pageOf,
  pageRequest,
  queryId,
  queryNumber,
  searchText,
  slug,
  text,
  timestamp,
} from '#server/wire/fields.ts';
import { lease, LEASE_END_REASONS, pool } from './lease-contract.ts';
import { DENIAL_CODES, LEASE_STATES } from './lease-state-contract.ts';

/** A longer range needs several calls. */
export const MAX_USAGE_DAYS = 400;

const count = z.int().min(0);

const leaseRecord = lease
  .extend({
    license_key: z.string(),
    holder: z.string(),
    user: z.string().nullable(),
    host: z.string().nullable(),
    machine_fingerprint: z.string().nullable(),
    address: z.string().nullable().meta({ description: 'The network address of the last checkout.' }),
    instance_id: z.string(),
    heartbeat_at: timestamp.nullable().meta({ description: 'The last heartbeat, or the checkout.' }),
    borrowed_until: timestamp.nullable(),
    ended_at: timestamp.nullable(),
    end_reason: z.enum(LEASE_END_REASONS).nullable(),
    end_note: z.string().nullable().meta({ description: "The administrator's reason for a reclaim." }),
    position: z.int().nullable().meta({ description: 'Place in the queue of a `queued` lease, from 1.' }),
  })
  .meta({ id: 'LeaseRecord' });

const seatHolder = z
  .object({
    lease_id: id,
    user: z.string().nullable(),
    host: z.string().nullable(),
    units: z.int(),
    state: z.enum(LEASE_STATES),
    issued_at: timestamp,
  })
  .meta({ id: 'SeatHolder' });

const denial = z
  .object({
    id,
    at: timestamp,
    license_id: id,
    license_key: z.string(),
    holder: z.string(),
    error_code: z.enum(DENIAL_CODES),
    rule_id: id.nullable().meta({ description: 'The lease rule that decided, if one did.' }),
    rule: z.string().nullable().meta({ description: 'That rule as it was then.' }),
    instance_id: z.string(),
    user: z.string().nullable(),
    host: z.string().nullable(),
    address: z.string().nullable(),
    machine_fingerprint: z.string().nullable(),
    feature: z.string().nullable(),
    units: z.int(),
    pool,
    holders: z
      .array(seatHolder)
      .meta({ description: 'Who held seats at that moment, newest first, up to 100.' }),
    holder_count: count,
  })
  .meta({ id: 'LeaseDenial' });

const poolItem = z
  .object({
    license_id: id,
    license_key: z.string(),
    holder: z.string(),
    product: slug,
    plan: z.string(),
    license_state: z.enum(LICENSE_STATES),
    pool,
    denied_24h: count.meta({ description: 'Denied checkouts of the last 24 hours.' }),
  })
  .meta({ id: 'LicensePool' });

const usage = {
  peak: count.meta({ description: 'The most seats in use at once.' }),
  needed: count.meta({
    description: 'The most seats that were wanted at once: in use, refused and waited for; at least `peak`.',
  }),
  average: z.number().min(0).meta({ description: 'Seats in use, averaged over the whole period.' }),
  denied: count,
  queued: count.meta({ description: 'Checkouts that had to wait.' }),
};

export const leaseAdminContract = {
  listLeases: endpoint({
    method: 'GET',
    path: '/leases/',
    auth: 'bearer',
    summary: 'List leases, newest first',
    request: z.object({
      ...pageRequest,
      lease_id: queryId.optional().meta({ description: 'Only the lease with this ID.' }),
      license: licenseRef.optional().meta({ description: 'Only leases of this license (ID or key).' }),
      user: searchText(200).optional().meta({ description: 'Only leases of this user.' }),
      host: searchText(200).optional().meta({ description: 'Only leases on this host.' }),
      state: z
        .enum([...LEASE_STATES, 'live'])
        .optional()
        .meta({ description: 'Only leases in this state. `live`: those that hold a seat or wait for one.' }),
    }),
    reply: z.object({
      ...pageOf(leaseRecord),
      pool: pool.nullable().meta({ description: 'The seats of `license`, if it is given and floating.' }),
    }),
    errors: ['license_not_found'],
  }),
  listLeasePools: endpoint({
    method: 'GET',
    path: '/leases/pools/',
    auth: 'bearer',
    summary: 'List floating licenses with their seats, those with the largest share in use first',
    request: z.object({
      ...pageRequest,
      license: licenseRef.optional().meta({ description: 'Only this license (ID or key).' }),
      search: searchText(200).optional().meta({
        description: 'A license key, or part of the holder or the email address.',
      }),
      plan: slug.optional().meta({ description: 'Only licenses of this plan.' }),
      product: slug.optional().meta({ description: 'Only licenses for this product.' }),
      min_percent: queryNumber(0, 100)
        .optional()
        .meta({ description: 'Only licenses with at least this share of their seats in use.' }),
    }),
    reply: z.object(pageOf(poolItem)),
    errors: ['license_not_found'],
  }),
  leaseUsage: endpoint({
    method: 'GET',
    path: '/leases/usage/',
    auth: 'bearer',
    summary: 'Show how many seats of a license were in use, per hour and day',
    request: z.object({
      license: licenseRef,
      from: moment.optional().meta({
        description: `At most ${MAX_USAGE_DAYS} days before \`to\`. Default: seven days before it.`,
      }),
      to: moment.optional().meta({ description: 'Default: now.' }),
    }),
    reply: z.object({
      license_id: id,
      from: timestamp,
      to: timestamp,
      pool: pool.nullable().meta({ description: 'The seats now; null unless the license is floating.' }),
      hours: z.array(z.object({ hour: timestamp, ...usage })).meta({
        description: 'Hours with use, denials or waiting clients, oldest first.',
      }),
      days: z.array(z.object({ day: z.iso.date(), ...usage })).meta({ description: 'The same per UTC day.' }),
    }),
    errors: ['license_not_found'],
  }),
  listLeaseDenials: endpoint({
    method: 'GET',
    path: '/leases/denials/',
    auth: 'bearer',
    summary: 'List denied checkouts, newest first',
    request: z.object({
      ...pageRequest,
      license: licenseRef.optional().meta({ description: 'Only denials of this license (ID or key).' }),
      user: searchText(200).optional().meta({ description: 'Only denials of this user.' }),
      host: searchText(200).optional().meta({ description: 'Only denials on this host.' }),
      error_code: z.enum(DENIAL_CODES).optional().meta({ description: 'Only denials with this code.' }),
      from: moment.optional().meta({ description: 'Only denials since then.' }),
      to: moment.optional().meta({ description: 'Only denials before then.' }),
    }),
    reply: z.object(pageOf(denial)),
    errors: ['license_not_found'],
  }),
  reclaimLease: endpoint({
    method: 'POST',
    path: '/leases/reclaim/',
    auth: 'bearer',
    summary: 'Take the seat of a lease back',
    request: z.object({ lease_id: id, reason: text(500) }),
    reply: z.object({ lease: leaseRecord }),
    errors: ['lease_not_found'],
  }),
};

export type PoolItem = z.input<typeof poolItem>;
export type LeaseRecord = z.input<typeof leaseRecord>;
export type SeatHolder = z.input<typeof seatHolder>;
export type LeaseDenialObject = z.input<typeof denial>;
export type DenialCode = (typeof DENIAL_CODES)[number];
