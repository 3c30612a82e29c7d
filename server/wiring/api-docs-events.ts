// The bodies of events as schemas (contract, section 6).
import { z } from 'zod';
import { pool } from '#server/features/leases/lease-contract.ts';
import { id, slug, timestamp } from '#server/wire/fields.ts';
import type { EventName } from '#server/features/events/event-contract.ts';
import { pascalCase } from '#server/platform/pascal-case.ts';

const core = {
  timestamp: timestamp.meta({ description: 'When the event happened.' }),
  license_id: id,
  license_key: z.string(),
  holder: z.string(),
  product: slug,
  plan: z.string(),
  machine_fingerprint: z
    .string()
    .nullable()
    .meta({ description: 'The device that the event is about, or else the newest active device.' }),
  issued_at: timestamp,
  expires_at: timestamp,
};

const certificate = z
  .object({
    serial_number: z.string().meta({ description: '32 lowercase hex digits.' }),
    subject: z.string(),
    not_before: timestamp,
    not_after: timestamp,
    fingerprint_sha256: z.string().meta({ description: '64 lowercase hex digits.' }),
  })
  .meta({ id: 'EventCertificate' });

const lease = z
  .object({
    lease_id: id,
    user: z.string().nullable(),
    host: z.string().nullable(),
    machine_fingerprint: z.string().nullable(),
    units: z.int(),
    feature: z.string().nullable(),
  })
  .meta({ id: 'EventLease' });

function body(event: EventName, added: z.ZodRawShape = {}) {
  return z.object({ event: z.literal(event), ...core, ...added }).meta({ id: `${pascalCase(event)}Event` });
}

export const EVENT_BODIES: Readonly<Record<EventName, z.ZodObject>> = {
  'license.activated': body('license.activated'),
  'license.renewed': body('license.renewed', { previous_expires_at: timestamp }),
  'license.upgraded': body('license.upgraded', { previous_plan: z.string() }),
  'license.revoked': body('license.revoked', { reason: z.string().nullable() }),
  'license.expiring': body('license.expiring', { days_left: z.int().min(0) }),
  'license.in_grace': body('license.in_grace', { grace_ends_at: timestamp }),
  'license.expired': body('license.expired'),
  'certificate.generated': body('certificate.generated', { certificate }),
  'certificate.revoked': body('certificate.revoked', {
    certificate,
    reason: z.string().meta({ description: 'An RFC 5280 reason, such as `key_compromise`.' }),
  }),
  'lease.denied': body('lease.denied', {
    error_code: z
      .string()
      .meta({ description: '`no_seat_available`, `denied_by_rule` or `borrow_limit_reached`.' }),
    rule: z.string().nullable(),
    user: z.string().nullable(),
    host: z.string().nullable(),
    units: z.int(),
    denied_count: z.int().meta({ description: 'Denials since the last event of this kind for the license.' }),
    pool,
  }),
  'lease.reclaimed': body('lease.reclaimed', { lease, reason: z.string() }),
  'lease.borrowed': body('lease.borrowed', { lease, borrowed_until: timestamp }),
  'lease.returned': body('lease.returned', { lease }),
  'pool.exhausted': body('pool.exhausted', { pool }),
  'pool.available': body('pool.available', { pool }),
  'pool.overdraft_started': body('pool.overdraft_started', { pool }),
  'pool.overdraft_ended': body('pool.overdraft_ended', { pool }),
};

/** What causes each event. */
export const EVENT_TRIGGERS: Readonly<Record<EventName, string>> = {
  'license.activated': 'A device was activated.',
  'license.renewed': 'A license was renewed.',
  'license.upgraded': 'A license was moved to a plan of a higher tier.',
  'license.revoked': 'A license was revoked.',
  'license.expiring': 'A license has fewer than 7 days left.',
  'license.in_grace': 'A license has expired and is in its grace period.',
  'license.expired': 'The license and its grace period have ended.',
  'certificate.generated': 'A client certificate was issued.',
  'certificate.revoked': 'A client certificate was revoked.',
  'lease.denied': 'A checkout or borrow request was denied. Sent at most once a minute for a license.',
  'lease.reclaimed': 'An administrator took the seat of a lease back.',
  'lease.borrowed': 'A seat was borrowed for use without a connection.',
  'lease.returned': 'A borrowed seat was returned before its end.',
  'pool.exhausted': 'The last seat of a floating license was taken.',
  'pool.available': 'A floating license has had a free seat for a minute.',
  'pool.overdraft_started': 'More seats are in use than the floating license has.',
  'pool.overdraft_ended': 'The seats in use have been within the floating license for a minute.',
};
