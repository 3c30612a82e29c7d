// Floating licenses: the calls of client software that holds a seat for a limited time.
import { z } from 'zod';
import { endpoint } from '#server/wire/endpoint.ts';
import { ERROR_STATUS, type ErrorCode } from '#server/wire/errors.ts';
import { clientText, fingerprint, id, needsOneOf, secretText, slug, timestamp } from '#server/wire/fields.ts';
import { LEASE_STATES, MAX_WAIT_SECONDS } from './lease-state-contract.ts';

const ERROR_CODES = Object.keys(ERROR_STATUS) as [ErrorCode, ...ErrorCode[]];

/** Why a lease has ended. */
export const LEASE_END_REASONS = [
  'released',
  'returned',
  'expired',
  'reclaimed',
  'seats_lowered',
  'license_revoked',
  'license_expired',
  'license_is_node_locked',
  'product_mismatch',
  'feature_not_included',
  'replaced',
  'queue_lapsed',
] as const;

export const MAX_UNITS = 1000;
/** Per call. */
export const MAX_HEARTBEATS = 100;
const MAX_BORROW_HOURS = 8760;

const licenseKey = z
  .string()
  .max(64)
  .meta({ description: 'License key. Case, spaces and hyphens do not matter.' });

export const instanceId = z
  .string()
  .regex(/^[\u0021-\u007e]{16,64}$/u, 'must be 16 to 64 printable characters without spaces')
  .meta({
    description:
      '16 to 64 random characters that the client keeps for its life. After a crash, they give it its lease again.',
  });

const encrypt = z.boolean().default(false).meta({
  description: 'Encrypts the lease file for this device. Needs `machine_fingerprint`.',
});

const count = z.int().min(0);

export const lease = z
  .object({
    lease_id: id,
    state: z.enum(LEASE_STATES),
    units: z.int(),
    license_id: id,
    product_slug: slug,
    feature: slug.nullable(),
    issued_at: timestamp,
    expires_at: timestamp,
    expires_in: count.meta({ description: 'Seconds until the lease ends. Clients count these.' }),
    heartbeat_seconds: z.int(),
    overdraft: z.boolean().meta({
      description:
        'Whether the seat was beyond the seats of the license when it was taken. This does not change while the lease lasts; the `overdraft` of the pool is the current number.',
    }),
    counted_as: z.string().meta({
      description: 'What the seat is counted by. Leases of a license with the same value share one seat.',
      examples: ['user:ada'],
    }),
  })
  .meta({ id: 'Lease' });

export const pool = z
  .object({
    total: count.nullable().meta({ description: 'The seats of the license; null if unlimited.' }),
    in_use: count.meta({ description: 'Seats that are held, offered, lingering or borrowed.' }),
    available: count.nullable().meta({ description: 'Free seats, overdraft excluded; null if unlimited.' }),
    reserved: count.meta({ description: 'Free seats that a rule reserves.' }),
    borrowed: count,
    overdraft: count.meta({ description: 'Seats in use beyond `total`.' }),
    queued: count.meta({ description: 'Clients that wait for a seat.' }),
  })
  .meta({ id: 'SeatPool' });

const leaseToken = secretText.meta({ description: 'The `lease_token` of the checkout.' });

const nextExpiry = count.nullable().meta({
  description: 'Seconds until the next lease ends, unless it is extended; null if none ends by itself.',
});

const noSeat = z.object({
  details: z.object({ pool, next_expiry_in: nextExpiry }).optional(),
  next_expiry_in: nextExpiry.optional(),
});

const borrowLimit = z.object({ details: z.object({ pool }).optional() });

const gone = z.object({ reason: z.enum(LEASE_END_REASONS) });

const LICENSE_ERRORS = [
  'license_not_found',
  'license_revoked',
  'license_expired',
  'license_is_node_locked',
  'product_mismatch',
  'feature_not_included',
] as const satisfies readonly ErrorCode[];

const queuedCheckout = z.object({
  queued: z.literal(true),
  ticket: z.string().meta({ description: 'Repeat the checkout with this ticket to keep the place.' }),
  position: z.int().min(1),
  poll_after_seconds: z.int(),
  lease: lease.meta({ description: 'The waiting lease, in state `queued`.' }),
  pool,
});

const failedHeartbeat = z.object({
  error_code: z.enum(ERROR_CODES),
  message: z.string(),
  reason: z.enum(LEASE_END_REASONS).optional(),
});

const heartbeats = z.object({
  lease: lease.optional(),
  leases: z.array(z.union([z.object({ lease }), failedHeartbeat])).optional(),
});

/** A caller who guesses. A client with one lease that it may extend does not. */
function isGuessed({ lease: extended, leases }: z.input<typeof heartbeats>): boolean {
  if (extended !== undefined || leases === undefined) return false;
  const codes = leases.map((entry) => ('error_code' in entry ? entry.error_code : null));
  return !codes.includes(null) && (codes.includes('token_invalid') || codes.includes('lease_gone'));
}

export const leaseContract = {
  heartbeatLeases: endpoint({
    method: 'POST',
    path: '/leases/heartbeat/',
    auth: 'public',
    rateLimit: 'failures',
    summary: 'Extend a lease, or up to 100 leases',
    request: needsOneOf(
      z.object({
        lease_token: leaseToken.optional(),
        leases: z.array(secretText).min(1).max(MAX_HEARTBEATS).optional().meta({
          description: 'Lease tokens. The reply has one entry for each, in the same order.',
        }),
      }),
      'lease_token',
      'leases',
    ),
    reply: heartbeats,
    isFailure: isGuessed,
    errors: ['token_invalid', 'lease_gone'],
    failureFields: { lease_gone: gone },
  }),
  checkoutLease: endpoint({
    method: 'POST',
    path: '/leases/checkout/',
    auth: 'public',
    rateLimit: 'failures',
    summary: 'Take a seat of a floating license, or wait for one',
    request: z.object({
      license_key: licenseKey,
      instance_id: instanceId,
      product_slug: slug.optional(),
      feature: slug.optional(),
      machine_fingerprint: fingerprint.optional(),
      user: clientText(200),
      host: clientText(200),
      units: z.int().min(1).max(MAX_UNITS).default(1).meta({ description: 'Seats to take.' }),
      wait_seconds: z.int().min(0).max(MAX_WAIT_SECONDS).default(0).meta({
        description:
          'How long to wait for a seat if none is free. 0: not at all. With `ticket`, the time of the first call counts, but 3600 waits for another hour.',
      }),
      ticket: secretText.optional().meta({ description: 'The ticket of a queued checkout.' }),
      encrypt,
    }),
    reply: z.object({ lease, lease_token: z.string(), lease_file: z.string(), pool }),
    accepted: queuedCheckout,
    errors: [...LICENSE_ERRORS, 'denied_by_rule', 'no_seat_available'],
    failureFields: { no_seat_available: noSeat },
  }),
  releaseLease: endpoint({
    method: 'POST',
    path: '/leases/release/',
    auth: 'public',
    rateLimit: 'failures',
    summary: 'Release a lease and free its seat',
    request: z.object({ lease_token: leaseToken }),
    reply: z.object({ released: z.literal(true) }),
    errors: ['token_invalid'],
  }),
  borrowLease: endpoint({
    method: 'POST',
    path: '/leases/borrow/',
    auth: 'public',
    rateLimit: 'failures',
    summary: 'Borrow the seat of a lease for use without a connection',
    request: z.object({
      lease_token: leaseToken,
      hours: z.int().min(1).max(MAX_BORROW_HOURS),
      machine_fingerprint: fingerprint,
      encrypt,
    }),
    reply: z.object({ lease, lease_file: z.string() }),
    errors: ['token_invalid', 'lease_gone', 'borrow_limit_reached'],
    failureFields: { lease_gone: gone, borrow_limit_reached: borrowLimit },
  }),
  returnLease: endpoint({
    method: 'POST',
    path: '/leases/return/',
    auth: 'public',
    rateLimit: 'failures',
    summary: 'Return a borrowed seat',
    request: needsOneOf(
      z.object({
        lease_token: leaseToken.optional(),
        lease_file: z.string().max(32_768).optional().meta({
          description:
            'A lease file of the loan. If the seat was borrowed again, each of its files returns it.',
        }),
        license_key: licenseKey
          .optional()
          .meta({ description: 'Required, together with the fingerprint, for an encrypted file.' }),
        machine_fingerprint: fingerprint.optional(),
      }),
      'lease_token',
      'lease_file',
    ),
    reply: z.object({ returned: z.literal(true) }),
    errors: ['token_invalid'],
  }),
};

export type LeaseObject = z.input<typeof lease>;
export type PoolObject = z.input<typeof pool>;
export type QueuedCheckout = z.input<typeof queuedCheckout>;
export type { LeaseState } from './lease-state-contract.ts';
export type LeaseEndReason = (typeof LEASE_END_REASONS)[number];
