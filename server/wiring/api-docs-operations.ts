// Documentation of each operation in addition to its row in the contract.
import type { publicContract } from '#server/contract.ts';
import type { OperationNotes } from '#server/platform/openapi.ts';
import { EXAMPLE, EXAMPLE_REPLIES } from './api-docs-examples.ts';
import { LEASE_RULE_NOTES } from './api-docs-lease-rules.ts';
import { LEASE_NOTES } from './api-docs-leases.ts';

const GROUPS = {
  Licensing: 'Called by client software: activate devices, validate license files, check authorization.',
  'Floating licenses':
    'Client software holds a seat for as long as it runs. Administrators see who holds seats and who was refused.',
  Licenses: 'Called by order systems and integrators with an API token: issue and change licenses.',
  Plans: 'What licenses of a plan include, and how long they last.',
  Certificates: 'Client certificates, their validation and the revocation list (CRL).',
  Webhooks: 'Register receivers of events.',
  Service: 'Health checks, public key and statistics.',
  Events: 'Signed HTTPS requests that License Desk sends to registered webhooks.',
} as const;

export const TAGS = Object.entries(GROUPS).map(([name, description]) => ({ name, description }));
export const EVENT_TAG: keyof typeof GROUPS = 'Events';

type OperationName = keyof typeof publicContract;
type Notes = Omit<OperationNotes, 'reply' | 'tag'> & { tag: keyof typeof GROUPS };

const { license_key, machine_fingerprint, serial_number } = EXAMPLE;

const NOTES: Record<OperationName, Notes> = {
  authorizeToken: {
    tag: 'Licensing',
    description:
      'Checks the authorization token that a customer presents. Only the body field `token` counts, never a header. `valid` is false, with a `reason`, if the token is active but for another product, or if its license is revoked or past its grace period.',
    request: { token: EXAMPLE.token, product_slug: 'my-product' },
  },
  authorize: {
    tag: 'Licensing',
    description:
      'Checks a license for a product and, optionally, for a device and an entitlement (`feature`). `authorized` is also true in the grace period; `state` is then `in_grace`. Otherwise `reason` names the first rule that failed.',
    request: { license_key, product_slug: 'my-product', machine_fingerprint },
  },
  activate: {
    tag: 'Licensing',
    description:
      'Activates a device and returns a signed license file. A device that is already active gets the same activation back: it takes no second seat and causes no second event.',
    request: {
      license_key,
      machine_fingerprint,
      product_slug: 'my-product',
      machine_name: 'workstation-7',
      platform: 'Windows 11',
      app_version: '4.2.0',
    },
  },
  validateOffline: {
    tag: 'Licensing',
    description:
      'Checks the signature of a license file and the current state of its license. If the license is valid but the file is out of date or not valid yet, the reply has a new `license_file`. While the server does not trust its clock, a valid file is not replaced. A lease file is refused.',
    request: { license_file: EXAMPLE.license_file, machine_fingerprint },
  },
  health: {
    tag: 'Service',
    description: 'Checks that the database answers and the jobs run. Not rate limited.',
  },
  healthLive: {
    tag: 'Service',
    description: 'Replies whenever the process answers. Not rate limited.',
  },
  healthReady: {
    tag: 'Service',
    description:
      'Checks that the server can write, trusts its clock, and is neither starting nor stopping. Otherwise the reply is 503 with the same fields. Not rate limited.',
  },
  publicKey: {
    tag: 'Service',
    description:
      'The Ed25519 key that verifies license files. `keys` also lists retired keys, whose files stay valid, and distrusted keys, whose files do not.',
  },
  renew: {
    tag: 'Licenses',
    description:
      "Extends a license by `days`, to `expires_at`, or by the plan's duration: from its expiry date if that is in the future, otherwise from now. A renewal never ends a license earlier than before.",
    request: { license_key, days: 365 },
  },
  upgrade: {
    tag: 'Licenses',
    description:
      "The license keeps its expiry date. The new plan's limits, entitlements and grace period apply immediately. An expired license can be upgraded; it stays expired until it is renewed, unless the new grace period covers it.",
    request: { license_key, plan: 'enterprise' },
  },
  listLicenses: {
    tag: 'Licenses',
    description: 'Filters can be combined. `next_cursor` of one page is the `cursor` of the next.',
    request: { state: 'issued', plan: 'professional', search: 'nordwind', limit: 50 },
  },
  createLicense: {
    tag: 'Licenses',
    description:
      "Issues a license with a new key. Without `days` or `expires_at` it lasts for the plan's duration. Use an `Idempotency-Key`, so that a repeated order does not issue a second license.",
    request: {
      holder: 'Nordwind Forensik GmbH',
      email: 'it@nordwind.example',
      plan: 'professional',
      product: 'my-product',
      days: 365,
      order_number: 'SO-2026-0417',
      notes: 'Ordered by the Hamburg office.',
      custom_fields: { 'Cost center': '4711' },
    },
  },
  updateLicense: {
    tag: 'Licenses',
    description:
      'Fields that are left out stay unchanged. `null` clears the email address, the order number or the notes, removes a custom field, and takes a seat limit from the plan again.',
    request: {
      license_key,
      holder: 'Nordwind Forensik SE',
      order_number: 'SO-2026-0418',
      notes: null,
      custom_fields: { 'Cost center': '4712' },
    },
  },
  showLicense: {
    tag: 'Licenses',
    description: 'Takes `license_id` or `license_key`.',
    request: { license_key },
  },
  revokeLicense: {
    tag: 'Licenses',
    description:
      'A revoked license cannot be restored. Revoking it again succeeds, changes nothing and causes no second event.',
    request: { license_key, reason: 'Chargeback' },
  },
  releaseDevice: {
    tag: 'Licenses',
    description: 'The device can be activated again while the license has a free seat.',
    request: { license_key, machine_fingerprint },
  },
  listPlans: {
    tag: 'Plans',
    description: 'Lists plans by tier, lowest first. `plans` and `items` are the same list.',
    request: { limit: 50 },
  },
  createPlan: {
    tag: 'Plans',
    description:
      'Creates a plan. `max_activations: null` allows any number of devices. With `licensing: "floating"`, leases take `seats` instead.',
    request: {
      name: 'site',
      display_name: 'Site license',
      tier: 25,
      duration_days: 365,
      grace_days: 30,
      max_activations: 100,
      features: ['reports'],
    },
  },
  updatePlan: {
    tag: 'Plans',
    description:
      'Names the plan by `id` or `name`; `new_name` renames it, and so does `name` with `id`. `features` replaces all entitlements; `add_features` and `remove_features` change some. Changes apply immediately to all licenses of the plan.',
    request: { name: 'site', max_activations: 200 },
  },
  deletePlan: {
    tag: 'Plans',
    description:
      'Names the plan by `id` or `name`, in the query or in the body; both together must be of the same plan. A plan that licenses use cannot be deleted; archive it instead.',
    request: { name: 'site' },
  },
  stats: {
    tag: 'Service',
    description: 'Current totals, and counts per UTC day between `from` and `to`. Default: the last 30 days.',
    request: { from: '2026-11-01T00:00:00Z', to: '2026-11-03T00:00:00Z', product: 'my-product' },
  },
  listWebhooks: {
    tag: 'Webhooks',
    description: 'Lists webhooks, newest first. `webhooks` and `items` are the same list.',
    request: { limit: 50 },
  },
  deleteWebhook: {
    tag: 'Webhooks',
    description:
      'Takes the `id` in the query or in the body. Deliveries that wait for the webhook are canceled.',
    request: { id: 1 },
  },
  registerWebhook: {
    tag: 'Webhooks',
    description:
      'Registers a URL for all events or for one. The reply shows the secret that signs deliveries, once.',
    request: {
      url: 'https://partner.example/hooks/license-desk',
      scope: 'license.revoked',
      description: 'Partner portal',
    },
  },
  generateCertificate: {
    tag: 'Certificates',
    description:
      'Issues a client certificate with a new private key, which `download_url` returns once within 15 minutes. With a signing request (`csr`) no private key is created. An expired license gets no certificate.',
    request: { license_key, common_name: 'workstation-7', organization: 'Nordwind Forensik GmbH' },
  },
  downloadKey: {
    tag: 'Certificates',
    description:
      'Works once, within 15 minutes. The private key is removed afterwards. With `Accept: application/x-pem-file` the reply is one PEM file.',
    request: { token: EXAMPLE.download_token },
  },
  validateCertificate: {
    tag: 'Certificates',
    description:
      'Takes a certificate or a serial number. `status` is `good`, or the reason why the certificate is not valid.',
    request: { serial_number },
  },
  revocationList: {
    tag: 'Certificates',
    description:
      'The CRL (RFC 5280), as JSON, PEM or DER. It is rebuilt after every revocation and before `next_update`.',
    request: { format: 'json' },
  },
  revokeCertificate: {
    tag: 'Certificates',
    description:
      'The reply waits until the CRL has the entry, and until all servers on the database serve it. Revoking a certificate again succeeds, changes nothing and causes no second event.',
    request: { serial_number, reason: 'superseded' },
  },
  ...LEASE_NOTES,
  ...LEASE_RULE_NOTES,
};

export const OPERATIONS = Object.fromEntries(
  Object.entries(NOTES).map(([name, notes]) => [
    name,
    { ...notes, reply: EXAMPLE_REPLIES[name as OperationName] },
  ]),
) as Record<OperationName, OperationNotes>;
