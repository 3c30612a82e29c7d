// Example replies in the API documentation. Long texts are shortened with an ellipsis.
import type { publicContract } from '#server/contract.ts';
import { LEASE_RULE_REPLIES } from './api-docs-lease-rules.ts';
import { LEASE_REPLIES } from './api-docs-leases.ts';

/** Values in the example requests. */
export const EXAMPLE = {
  license_key: '7K3QX-9M2TC-0AB1D-4EFGH-JKMNP',
  machine_fingerprint: 'sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855',
  token: 'ldt_4pHnZf1q0WcXr8uKJ6sVbYtE2mLgD9aQ5iOyRx3NkSo',
  download_token: 'ldd_uT7wQz2Jk5RbXc9fVn4Ld8mSg1HaYe0pOi6ZtB3qWrE',
  serial_number: '4f1d2c9a6be84370a1c5d2e3f4a5b6c7',
  license_file: '-----BEGIN LICENSE FILE-----\neyJlbmMiOiJleUp0WlhSaElqcDdJ…\n-----END LICENSE FILE-----\n',
};

const NOW = '2026-11-20T09:30:00.000Z';
const { license_key, machine_fingerprint, serial_number, license_file } = EXAMPLE;

const issued = {
  license_id: 4711,
  license_key,
  holder: 'Nordwind Forensik GmbH',
  product: 'my-product',
  plan: 'professional',
  machine_fingerprint: null,
  issued_at: NOW,
  expires_at: '2027-11-20T09:30:00.000Z',
  state: 'issued',
  grace_ends_at: '2027-12-04T09:30:00.000Z',
  max_activations: 5,
  activation_count: 0,
  features: ['reports'],
  licensing: 'node_locked',
  seats: 5,
};
const active = { ...issued, machine_fingerprint, state: 'active', activation_count: 1 };
const details = {
  email: 'it@nordwind.example',
  order_number: 'SO-2026-0417',
  notes: 'Ordered by the Hamburg office.',
  custom_fields: { 'Cost center': '4711' },
  first_activated_at: null,
  revoked_at: null,
  revoke_reason: null,
  seat_limits: null,
};

const activation = { id: 815, machine_fingerprint, machine_name: 'workstation-7', activated_at: NOW };
const device = {
  ...activation,
  platform: 'Windows 11',
  app_version: '4.2.0',
  released_at: null,
  last_seen_at: NOW,
  replaces_device_id: null,
};

const plan = {
  id: 5,
  name: 'site',
  display_name: 'Site license',
  product: null,
  tier: 25,
  duration_days: 365,
  grace_days: 30,
  max_activations: 100,
  features: ['reports'],
  archived: false,
  licensing: 'node_locked',
  seats: null,
  lease_seconds: 600,
  heartbeat_seconds: 200,
  count_by: 'process',
  overdraft_seats: 0,
  borrow_max_hours: 0,
  borrow_max_count: null,
  borrow_keep_free: 0,
  linger_seconds: 0,
};

const webhook = {
  id: 1,
  url: 'https://partner.example/hooks/license-desk',
  scope: 'license.revoked',
  description: 'Partner portal',
  status: 'active',
  created_at: NOW,
  last_delivery_at: null,
  last_error: null,
  paused: false,
  last_test_at: null,
  last_test_error: null,
};

const pem = (label: string) =>
  `-----BEGIN ${label}-----\nMIIDdzCCAl+gAwIBAgIQTx0sm…\n-----END ${label}-----\n`;
const certificate = {
  id: 23,
  serial_number,
  license_id: 4711,
  common_name: 'workstation-7',
  subject: 'CN=workstation-7,O=Nordwind Forensik GmbH',
  not_before: '2026-11-20T09:25:00.000Z',
  not_after: '2027-11-20T09:30:00.000Z',
  fingerprint_sha256: '9b74c9897bac770ffc029102a200c5de3f1f6d1e4f2b7a0c8d5e6f708192a3b4',
  status: 'good',
  revoked_at: null,
  reason: null,
  pem: pem('CERTIFICATE'),
};
const revoked = { revoked_at: NOW, reason: 'superseded' };

const PUBLIC_KEY = '52Q+jhfDp6zsGbqxxXOG+LusLHkw0cXWmIhV7o+9me8=';
const KEY_ID = 'bc06e48c18e8ad46';

/** Without `ok: true`. */
export const EXAMPLE_REPLIES: Record<keyof typeof publicContract, object> = {
  authorizeToken: {
    valid: true,
    license_id: 4711,
    product_slug: 'my-product',
    expires_at: '2027-11-20T09:30:00.000Z',
  },
  authorize: {
    authorized: true,
    reason: null,
    license_id: 4711,
    product_slug: 'my-product',
    plan: 'professional',
    state: 'active',
    features: ['reports'],
    expires_at: active.expires_at,
  },
  activate: { license: active, activation, license_file },
  validateOffline: {
    valid: true,
    reason: null,
    license: active,
    signed_at: NOW,
    file_expires_at: '2027-02-18T09:30:00.000Z',
  },
  health: {
    status: 'ok',
    version: '1.0.0',
    time: NOW,
    uptime_seconds: 86_400.5,
    checks: { database: 'ok', jobs: 'ok' },
  },
  healthLive: { status: 'ok' },
  healthReady: {
    status: 'ready',
    checks: { database: 'ok', storage: 'ok', clock: 'ok', draining: 'ok' },
  },
  publicKey: {
    algorithm: 'Ed25519',
    key_id: KEY_ID,
    public_key: PUBLIC_KEY,
    public_key_pem: `-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEA${PUBLIC_KEY}\n-----END PUBLIC KEY-----\n`,
    keys: [{ key_id: KEY_ID, public_key: PUBLIC_KEY, status: 'active' }],
    distrust_list: null,
  },
  renew: {
    license: {
      ...active,
      expires_at: '2028-11-19T09:30:00.000Z',
      grace_ends_at: '2028-12-03T09:30:00.000Z',
    },
    previous_expires_at: active.expires_at,
  },
  upgrade: {
    license: {
      ...active,
      plan: 'enterprise',
      max_activations: null,
      seats: null,
      grace_ends_at: '2027-12-20T09:30:00.000Z',
    },
    previous_plan: 'professional',
  },
  listLicenses: { items: [{ ...issued, ...details, seats_in_use: null }], next_cursor: null },
  createLicense: { license: { ...issued, ...details } },
  updateLicense: {
    license: {
      ...issued,
      ...details,
      holder: 'Nordwind Forensik SE',
      order_number: 'SO-2026-0418',
      notes: null,
      custom_fields: { 'Cost center': '4712' },
    },
  },
  showLicense: { license: { ...active, ...details, first_activated_at: NOW }, devices: [device] },
  revokeLicense: {
    license: { ...issued, ...details, state: 'revoked', revoked_at: NOW, revoke_reason: 'Chargeback' },
  },
  releaseDevice: { device: { ...device, released_at: '2026-12-01T12:00:00.000Z' } },
  listPlans: { plans: [plan], items: [plan], next_cursor: null },
  createPlan: { plan },
  updatePlan: { plan: { ...plan, max_activations: 200 } },
  deletePlan: { plan },
  stats: {
    licenses: {
      total: 2,
      by_state: { issued: 1, active: 1, expiring: 0, in_grace: 0, expired: 0, revoked: 0 },
      by_plan: { professional: 2 },
      by_product: { 'my-product': 2 },
    },
    activations: {
      total: 3,
      active: 2,
      per_day: [
        { day: '2026-11-01', count: 1 },
        { day: '2026-11-02', count: 2 },
      ],
    },
    tokens: { active: 1, expired: 0, revoked: 0, replaced: 1 },
    certificates: { valid: 1, revoked: 0, expired: 0 },
    webhooks: { registrations: 1, delivered: 12, retrying: 0, failed: 0 },
    authorizations: {
      per_day: [
        { day: '2026-11-01', count: 48 },
        { day: '2026-11-02', count: 51 },
      ],
    },
  },
  listWebhooks: { webhooks: [webhook], items: [webhook], next_cursor: null },
  deleteWebhook: { webhook },
  registerWebhook: { webhook, secret: 'whsec_yOguA70Tmv4yrbGNPkT325NclJ9P59/5O5w6W99scqw=' },
  generateCertificate: {
    certificate,
    ca_certificate: pem('CERTIFICATE'),
    download_token: EXAMPLE.download_token,
    download_url: `https://licenses.example/license/api/svc/certs/download-key/?token=${EXAMPLE.download_token}`,
    download_expires_at: '2026-11-20T09:45:00.000Z',
  },
  downloadKey: {
    private_key: pem('PRIVATE KEY'),
    certificate: certificate.pem,
    ca_certificate: pem('CERTIFICATE'),
  },
  validateCertificate: {
    valid: true,
    status: 'good',
    serial_number,
    subject: certificate.subject,
    not_after: certificate.not_after,
    revoked_at: null,
    reason: null,
  },
  revocationList: {
    crl: pem('X509 CRL'),
    crl_number: 7,
    built_at: NOW,
    this_update: '2026-11-20T08:30:00.000Z',
    next_update: '2026-11-27T09:30:00.000Z',
    revoked: [{ serial_number, ...revoked }],
  },
  ...LEASE_REPLIES,
  ...LEASE_RULE_REPLIES,
  revokeCertificate: {
    certificate: { ...certificate, status: 'revoked', ...revoked },
    listed: true,
    late_servers: [],
  },
};
