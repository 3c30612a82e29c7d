// The bodies of events as schemas (contract, section 6).
import { z } from 'zod';
import { id, slug, timestamp } from '#server/wire/fields.ts';
import type { EventName } from './event-contract.ts';

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

/** `license.in_grace` becomes `LicenseInGraceEvent`. */
function componentName(event: EventName): string {
  const words = event.split(/[._]/u).map((word) => word.charAt(0).toUpperCase() + word.slice(1));
  return `${words.join('')}Event`;
}

function body(event: EventName, added: z.ZodRawShape = {}) {
  return z.object({ event: z.literal(event), ...core, ...added }).meta({ id: componentName(event) });
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
};
