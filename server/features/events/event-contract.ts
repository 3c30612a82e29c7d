/** All events (contract, section 6). */
export const EVENT_NAMES = [
  'license.activated',
  'license.renewed',
  'license.upgraded',
  'license.revoked',
  'license.expiring',
  'license.in_grace',
  'license.expired',
  'certificate.generated',
  'certificate.revoked',
  'lease.denied',
  'lease.reclaimed',
  'lease.borrowed',
  'lease.returned',
  'pool.exhausted',
  'pool.available',
  'pool.overdraft_started',
  'pool.overdraft_ended',
] as const;

export type EventName = (typeof EVENT_NAMES)[number];

const SAMPLE_LICENSE = {
  license_id: 4711,
  license_key: '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP',
  holder: 'Ústav soudního lékařství',
  product: 'my-product',
  plan: 'professional',
  machine_fingerprint: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  issued_at: '2026-03-02T08:15:00.000Z',
  expires_at: '2027-03-02T08:15:00.000Z',
};

const SAMPLE_CERTIFICATE = {
  serial_number: '4f1d2c9a6be84370a1c5d2e3f4a5b6c7',
  subject: 'CN=workstation-7,emailAddress=it@usl.example,O=Ústav soudního lékařství',
  not_before: '2026-11-20T09:25:00.000Z',
  not_after: '2027-11-20T09:30:00.000Z',
  fingerprint_sha256: '9b74c9897bac770ffc029102a200c5de3f1f6d1e4f2b7a0c8d5e6f708192a3b4',
};

const SAMPLE_POOL = {
  total: 10,
  in_use: 10,
  available: 0,
  reserved: 0,
  borrowed: 2,
  overdraft: 0,
  queued: 3,
};

/** Floating licenses have no activations. */
const NO_DEVICE = { machine_fingerprint: null };

const SAMPLE_LEASE = {
  lease_id: 90210,
  user: 'ada',
  host: 'workstation-7',
  machine_fingerprint: SAMPLE_LICENSE.machine_fingerprint,
  units: 1,
  feature: 'reports',
};

/** The fields that each event adds, and the shared ones whose values it changes. */
const SAMPLE_FIELDS: Record<EventName, object> = {
  'license.activated': {},
  'license.renewed': {
    expires_at: '2028-03-01T08:15:00.000Z',
    previous_expires_at: SAMPLE_LICENSE.expires_at,
  },
  'license.upgraded': { plan: 'enterprise', previous_plan: SAMPLE_LICENSE.plan },
  'license.revoked': { reason: 'chargeback' },
  'license.expiring': { days_left: 6 },
  'license.in_grace': { grace_ends_at: '2027-03-16T08:15:00.000Z' },
  'license.expired': {},
  'certificate.generated': { certificate: SAMPLE_CERTIFICATE },
  'certificate.revoked': { certificate: SAMPLE_CERTIFICATE, reason: 'superseded' },
  'lease.denied': {
    error_code: 'no_seat_available',
    rule: null,
    user: 'grace',
    host: 'workstation-8',
    units: 1,
    denied_count: 1,
    pool: SAMPLE_POOL,
  },
  'lease.reclaimed': { lease: SAMPLE_LEASE, reason: 'The workstation was stolen' },
  'lease.borrowed': { lease: SAMPLE_LEASE, borrowed_until: '2026-11-23T09:30:00.000Z' },
  'lease.returned': { lease: SAMPLE_LEASE },
  'pool.exhausted': { ...NO_DEVICE, pool: SAMPLE_POOL },
  'pool.available': { ...NO_DEVICE, pool: { ...SAMPLE_POOL, in_use: 8, available: 2, queued: 0 } },
  'pool.overdraft_started': { ...NO_DEVICE, pool: { ...SAMPLE_POOL, in_use: 11, overdraft: 1 } },
  'pool.overdraft_ended': { ...NO_DEVICE, pool: SAMPLE_POOL },
};

const SAMPLE_TIMES: Partial<Record<EventName, string>> = {
  'license.expiring': '2027-02-23T08:15:00.000Z',
  'license.in_grace': '2027-03-02T08:15:00.000Z',
  'license.expired': '2027-03-16T08:15:00.000Z',
};

/** A complete delivery body for this event. */
export function sampleEvent(event: EventName): object {
  const timestamp = SAMPLE_TIMES[event] ?? '2026-11-20T09:30:00.000Z';
  return { event, timestamp, ...SAMPLE_LICENSE, ...SAMPLE_FIELDS[event] };
}
