// Every row of the public contract, with a request that it answers with success.
import { ADMIN_API_ROOT, adminContract, publicContract } from '#server/contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import type { LeaseObject, PoolObject } from '#server/features/leases/lease-contract.ts';
import type { LicenseObject, LicenseRecord } from '#server/features/licenses/license-contract.ts';
import { expectSuccess } from './strict-reply.ts';
import { fingerprintOf, type Reply, type TestServer } from './test-server.ts';

export type RowName = keyof typeof publicContract;
type CreateLicense = Parameters<TestServer['admin']['createLicense']>[0];
type Headers = Record<string, string>;

export const ROWS = Object.entries(publicContract) as [RowName, Endpoint][];
export const ROWS_WITH_BODY = ROWS.filter(([, row]) => row.method === 'POST' || row.method === 'PUT');

/** `[path, its methods]` */
export const PATHS: [string, string[]][] = [...Map.groupBy(ROWS, ([, row]) => row.path)].map(
  ([path, rows]) => [path, rows.map(([, row]) => row.method)],
);

let count = 0;

/** A name that no other call gave. */
export function unique(prefix: string): string {
  count += 1;
  return `${prefix}-${count}`;
}

/** A fingerprint that no other call gave. */
export function newFingerprint(): string {
  count += 1;
  return fingerprintOf(count);
}

export async function newLicense(
  server: TestServer,
  input: Partial<CreateLicense> = {},
): Promise<LicenseRecord> {
  const { license } = await server.admin.createLicense({ holder: 'Nordwind Forensik GmbH', ...input });
  return license;
}

/** What the contract's license object has of a license record. */
export function publicFields(record: LicenseRecord) {
  const {
    email,
    order_number,
    notes,
    custom_fields,
    first_activated_at,
    revoked_at,
    revoke_reason,
    seat_limits,
    ...object
  } = record;
  // The compiler reports a field for administrators that is not left out above.
  return object satisfies Record<Exclude<keyof typeof object, keyof LicenseObject>, never>;
}

/** The header of a new API token. */
export async function newBearer(
  server: TestServer,
  role: 'admin' | 'integrator' = 'admin',
): Promise<Headers> {
  const { api_token } = await server.admin.createApiToken({ name: unique(role), role });
  return { authorization: `Bearer ${api_token}` };
}

/** Activates a new device, and gives back the reply. */
export async function activateDevice(
  server: TestServer,
  license: { license_key: string },
  fields: object = {},
) {
  const reply = await server.post('/activate/', {
    license_key: license.license_key,
    machine_fingerprint: newFingerprint(),
    ...fields,
  });
  if (reply.status !== 200) throw new Error(`not activated: ${JSON.stringify(reply.body)}`);
  return reply.body as { license_file: string; activation: { id: number; machine_fingerprint: string } };
}

/** An instance that no other call gave. */
export function newInstanceId(): string {
  count += 1;
  return `instance-${String(count).padStart(16, '0')}`;
}

type CreateLeaseRule = Parameters<TestServer['admin']['createLeaseRule']>[0];
type CreateLeaseGroup = Parameters<TestServer['admin']['createLeaseGroup']>[0];
type CreatePlan = Parameters<TestServer['admin']['createPlan']>[0];

/** A license of a new floating plan: two seats that can be borrowed for a day, unless given. */
export async function newFloatingLicense(
  server: TestServer,
  plan: Partial<CreatePlan> = {},
): Promise<LicenseRecord> {
  const name = unique('floating');
  await server.admin.createPlan({ name, licensing: 'floating', seats: 2, borrow_max_hours: 24, ...plan });
  return newLicense(server, { plan: name });
}

/** Checks a lease out of a new license, or of the given one, and gives back the reply. */
export async function newLease(server: TestServer, license?: { license_key: string }, fields: object = {}) {
  const { license_key } = license ?? (await newFloatingLicense(server));
  const reply = await server.post('/leases/checkout/', {
    license_key,
    instance_id: newInstanceId(),
    ...fields,
  });
  if (reply.status !== 200) throw new Error(`no lease: ${JSON.stringify(reply.body)}`);
  return reply.body as { lease: LeaseObject; lease_token: string; lease_file: string; pool: PoolObject };
}

export async function newLeaseRule(server: TestServer, fields: Partial<CreateLeaseRule> = {}) {
  const license = fields.license ?? (await newFloatingLicense(server)).license_key;
  const { rule } = await server.admin.createLeaseRule({ type: 'deny', match: {}, ...fields, license });
  return rule;
}

export async function newLeaseGroup(server: TestServer, fields: Partial<CreateLeaseGroup> = {}) {
  const { group } = await server.admin.createLeaseGroup({ name: unique('group'), ...fields });
  return group;
}

/** Of a client with a key. Without one, the server makes an RSA key, which takes longer than the rest of the call. */
export const SIGNING_REQUEST = `-----BEGIN CERTIFICATE REQUEST-----
MIHLMHMCAQAwETEPMA0GA1UEAwwGY2xpZW50MFkwEwYHKoZIzj0CAQYIKoZIzj0D
AQcDQgAE+yfeWUsjo3tWosJhzLOXr1QBHNQx3RQMGGMCbPVX+WnklfutLjO7HETr
55JaTyfaUSoNCCShl3KO72yaHBPRDaAAMAoGCCqGSM49BAMCA0gAMEUCIQCfpNCZ
RYZuatFYB4D8d0Z2dJiQHPeMAylHO+gwsVxFAQIgbH22XFmmEg9Hv0toLLKOP7xf
6LL/JdVPk1TSh2pKtC8=
-----END CERTIFICATE REQUEST-----
`;

async function newCertificate(server: TestServer) {
  const { license_id } = await newLicense(server);
  const order = { license_id, common_name: unique('client'), csr: SIGNING_REQUEST };
  return (await server.admin.generateCertificate(order)).certificate;
}

/** Nobody listens there, and no license event is in the scope. */
function newRegistration() {
  return { url: `https://127.0.0.1:1/${unique('hook')}`, scope: 'certificate.generated' as const };
}

type Sample = (server: TestServer) => Promise<Record<string, unknown>>;

/** Each call of these makes what it needs anew, so that it can be repeated. */
export const SAMPLES: Record<RowName, Sample> = {
  authorizeToken: async (server) => {
    const { license_key } = await newLicense(server);
    return { token: (await server.admin.issueToken({ license: license_key })).token };
  },
  authorize: async (server) => ({ license_key: (await newLicense(server)).license_key }),
  activate: async (server) => ({
    license_key: (await newLicense(server)).license_key,
    machine_fingerprint: newFingerprint(),
  }),
  validateOffline: async (server) => {
    const { license_file } = await activateDevice(server, await newLicense(server));
    return { license_file };
  },
  health: async () => ({}),
  healthLive: async () => ({}),
  healthReady: async () => ({}),
  publicKey: async () => ({}),
  renew: async (server) => ({ license_id: (await newLicense(server)).license_id }),
  upgrade: async (server) => ({ license_id: (await newLicense(server)).license_id, plan: 'enterprise' }),
  listLicenses: async () => ({}),
  createLicense: async () => ({ holder: unique('Holder') }),
  updateLicense: async (server) => ({
    license_id: (await newLicense(server)).license_id,
    order_number: unique('order'),
    custom_fields: { 'Cost center': '4711', Contact: null },
  }),
  showLicense: async (server) => ({ license_key: (await newLicense(server)).license_key }),
  revokeLicense: async (server) => ({ license_id: (await newLicense(server)).license_id }),
  releaseDevice: async (server) => {
    const license = await newLicense(server);
    const { activation } = await activateDevice(server, license);
    return { license_id: license.license_id, machine_fingerprint: activation.machine_fingerprint };
  },
  listPlans: async () => ({}),
  createPlan: async () => ({ name: unique('plan') }),
  updatePlan: async (server) => {
    const { plan } = await server.admin.createPlan({ name: unique('plan') });
    return { id: plan.id, tier: 5 };
  },
  deletePlan: async (server) => {
    const { plan } = await server.admin.createPlan({ name: unique('plan') });
    return { id: plan.id };
  },
  stats: async () => ({}),
  listWebhooks: async () => ({}),
  deleteWebhook: async (server) => {
    const { webhook } = await server.admin.registerWebhook(newRegistration());
    return { id: webhook.id };
  },
  registerWebhook: async () => newRegistration(),
  generateCertificate: async (server) => ({
    license_id: (await newLicense(server)).license_id,
    common_name: unique('client'),
  }),
  downloadKey: async (server) => {
    const { license_id } = await newLicense(server);
    const order = { license_id, common_name: unique('client') };
    return { token: (await server.admin.generateCertificate(order)).download_token };
  },
  validateCertificate: async (server) => ({ certificate: (await newCertificate(server)).pem }),
  revocationList: async () => ({}),
  revokeCertificate: async (server) => ({ id: (await newCertificate(server)).id }),
  checkoutLease: async (server) => ({
    license_key: (await newFloatingLicense(server)).license_key,
    instance_id: newInstanceId(),
  }),
  heartbeatLeases: async (server) => ({ lease_token: (await newLease(server)).lease_token }),
  releaseLease: async (server) => ({ lease_token: (await newLease(server)).lease_token }),
  borrowLease: async (server) => ({
    lease_token: (await newLease(server)).lease_token,
    hours: 1,
    machine_fingerprint: newFingerprint(),
  }),
  returnLease: async (server) => {
    const { lease_token } = await newLease(server);
    const machine_fingerprint = newFingerprint();
    await server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint });
    return { lease_token };
  },
  listLeases: async () => ({}),
  listLeasePools: async () => ({}),
  leaseUsage: async (server) => ({ license: (await newFloatingLicense(server)).license_key }),
  listLeaseDenials: async () => ({}),
  listLeaseRules: async () => ({}),
  createLeaseRule: async (server) => ({
    license: (await newFloatingLicense(server)).license_key,
    type: 'deny',
    match: { user: 'eve' },
  }),
  updateLeaseRule: async (server) => ({ id: (await newLeaseRule(server)).id, match: { user: 'mallory' } }),
  deleteLeaseRule: async (server) => ({ id: (await newLeaseRule(server)).id }),
  tryLeaseRules: async (server) => ({
    license: (await newFloatingLicense(server)).license_key,
    user: 'ada',
  }),
  importLeaseRules: async (server) => ({
    license: (await newFloatingLicense(server)).license_key,
    content: 'RESERVE 1 viewer USER ada\n',
  }),
  listLeaseGroups: async () => ({}),
  createLeaseGroup: async () => ({ name: unique('group'), members: ['ada'] }),
  updateLeaseGroup: async (server) => ({ id: (await newLeaseGroup(server)).id, add_members: ['grace'] }),
  deleteLeaseGroup: async (server) => ({ id: (await newLeaseGroup(server)).id }),
  reclaimLease: async (server) => ({ lease_id: (await newLease(server)).lease.lease_id, reason: 'test' }),
};

/** Calls a row with its fields where they belong: in the query of GET and DELETE, in a JSON body otherwise. */
export async function callRow(
  server: TestServer,
  row: Endpoint,
  input: Record<string, unknown>,
  headers: Headers = {},
  path: string = row.path,
): Promise<Reply> {
  if (row.method !== 'GET' && row.method !== 'DELETE') return server.call(row.method, path, input, headers);
  const query = new URLSearchParams(Object.entries(input).map(([name, value]) => [name, String(value)]));
  return server.call(row.method, `${path}${query.size === 0 ? '' : `?${query}`}`, undefined, headers);
}

export type AdminRowName = keyof typeof adminContract;

/** Calls a row of the admin listener as the CLI does, and gives back the whole reply. */
export async function callAdmin(
  server: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>,
  name: AdminRowName,
  input: Record<string, unknown> = {},
  headers: Headers = { authorization: `Bearer ${server.runtimeSecret}` },
): Promise<Reply> {
  const row: Endpoint = adminContract[name];
  const inQuery = row.method === 'GET' || row.method === 'DELETE';
  const query = new URLSearchParams(
    inQuery ? Object.entries(input).map(([field, value]) => [field, String(value)]) : [],
  );
  const response = await fetch(
    `${server.adminOrigin}${ADMIN_API_ROOT}${row.path}${query.size === 0 ? '' : `?${query}`}`,
    {
      method: row.method,
      headers: inQuery ? headers : { 'content-type': 'application/json', ...headers },
      ...(inQuery ? {} : { body: JSON.stringify(input) }),
    },
  );
  return { status: response.status, headers: response.headers, body: (await response.json()) as unknown };
}

/** The body of a success that says exactly what the row declares. */
export async function adminSuccess(
  server: TestServer,
  name: AdminRowName,
  input: Record<string, unknown> = {},
) {
  const reply = await callAdmin(server, name, input);
  expectSuccess(adminContract[name], reply);
  return reply.body;
}

/** The body of a success of the public API that says exactly what the row declares. */
export async function success(
  server: TestServer,
  name: RowName,
  input: Record<string, unknown>,
  headers: Headers = {},
) {
  const reply = await callRow(server, publicContract[name], input, headers);
  expectSuccess(publicContract[name], reply);
  return reply.body;
}
