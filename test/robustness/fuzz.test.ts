// Every endpoint is sent anything at all, with valid credentials: what it answers is always the contract's.
import * as fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { ADMIN_API_ROOT, adminContract, PUBLIC_API_ROOT, publicContract } from '#server/contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import type { ErrorCode } from '#server/wire/errors.ts';
import { anyCharacter } from '../helpers/any-character.ts';
import { formatMachineRequest, type MachineRequest } from '../../verifier/machine-request.ts';
import { selectRows } from '../helpers/database.ts';
import { untilFirstCrl } from '../helpers/crl.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type GoodValues, jsonRequest, queryRequest } from '../helpers/nasty-json.ts';
import { rawClient, type RawClient, type RawReply, type RawRequest } from '../helpers/raw-request.ts';
import { expectCommonHeaders, expectFailure, expectSuccess } from '../helpers/strict-reply.ts';
import { fingerprintOf, type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Of each endpoint. */
const RUNS = roundsOr(10);
const OF_EVERY_ENDPOINT: ErrorCode[] = [
  'invalid_request',
  'invalid_json',
  'payload_too_large',
  'unsupported_media_type',
  'unauthorized',
];

let server: TestServer;
let api: RawClient;
let admin: RawClient;
/** Made anew for each endpoint, as the last one may have used them up. */
let good: GoodValues;
let bearer: string;

beforeAll(async () => {
  server = await startTestServer();
  api = rawClient(server.api);
  admin = rawClient(server.adminOrigin);
  // What the good values below name, too; statistics count by name, so it should be a treacherous one.
  await server.admin.createPlan({ name: 'constructor', tier: 7, max_activations: 2 });
  await server.admin.createLicense({ holder: 'Treacherous', plan: 'constructor', product: 'constructor' });
  await untilFirstCrl(server);
});
afterAll(async () => {
  api.close();
  admin.close();
  await server.stop();
});

/** Of air-gapped machines: a good one, and some whose checksum is right and whose contents are not. */
function requestFiles(licenseKey: string, fingerprint: string): string[] {
  const whole: MachineRequest = { licenseKey, fingerprint, nonce: 'n', issuedAt: Date.now() };
  const bad = [
    { product: 'A B' },
    { machineName: 'a\0b' },
    { machineName: '\ud800' },
    { licenseKey: 'x'.repeat(300) },
  ];
  const files = [whole, ...bad.map((fields) => ({ ...whole, ...fields }))].map((one) =>
    formatMachineRequest(one),
  );
  return [...files, formatMachineRequest(whole, 'line')];
}

let made = 0;

beforeEach(async () => {
  made += 1;
  const { api_token, token: apiToken } = await server.admin.createApiToken({ name: 'Fuzz', role: 'admin' });
  bearer = `Bearer ${api_token}`;
  const { plan } = await server.admin.createPlan({
    name: `plan-${made}`,
    tier: 5,
    max_activations: null,
    features: ['imaging'],
  });
  const { license } = await server.admin.createLicense({ holder: 'Fuzz', plan: plan.name });
  const forever = await server.admin.createLicense({ holder: 'Forever', expires_at: '9988-12-30T00:00:00Z' });
  const { token, authorization_token } = await server.admin.issueToken({ license: license.license_key });
  const machine_fingerprint = fingerprintOf(made);
  const device = { license_key: license.license_key, machine_fingerprint };
  const { body } = await server.post('/activate/', device);
  const encrypted = await server.post('/activate/', { ...device, encrypt: true });
  const address = new URL((await server.admin.createSignInCode({})).address);
  const { import_id } = await server.admin.uploadImport({ file: new Blob(['who,which\nx,trial\n']) });
  const refs = [license.license_key, String(license.license_id), forever.license.license_key];
  const moments = ['2027-01-01T00:00:00Z', '2020-01-01T00:00:00+02:00', '9988-12-30T00:00:00Z'];
  good = {
    token: [token],
    product_slug: ['my-product', 'other', 'constructor'],
    product: ['my-product', 'constructor', null],
    license_key: [license.license_key, license.license_key.toLowerCase(), forever.license.license_key],
    license_id: [license.license_id, forever.license.license_id],
    license: refs,
    ref: refs,
    machine_fingerprint: [machine_fingerprint, fingerprintOf(0)],
    license_file: [body.license_file, encrypted.body.license_file],
    request: requestFiles(license.license_key, machine_fingerprint),
    plan: [plan.name, 'enterprise', 'constructor'],
    name: [plan.name, 'constructor', 'Any name'],
    new_name: ['constructor', 'trial'],
    id: [plan.id, apiToken.id, authorization_token.id],
    code: [address.searchParams.get('code')],
    expires_at: moments,
    from: moments,
    to: moments,
    days: [1, 36_500],
    limit: [1, 500],
    cursor: ['1', '999999'],
    state: ['issued', 'expired'],
    role: ['admin', 'integrator'],
    subject: [`license:${license.license_id}`],
    search: ['Fuzz', license.license_key, machine_fingerprint, 'ž%_\\'],
    features: [['imaging'], ['constructor']],
    encrypt: [true, false],
    archived: [true, false],
    email: ['a@example.com'],
    tier: [0, 6],
    duration_days: [1, 36_500],
    grace_days: [0, 3650],
    max_activations: [1, null],
    ttl_days: [1, 36_500],
    import_id: [import_id],
    mapping: [{ holder: 'who' }, { holder: 'who', plan: 'which' }, { holder: 'which', days: 'who' }],
    defaults: [{}, { plan: plan.name, product: 'constructor' }],
    feature: ['imaging', 'constructor'],
  };
});

/** Throws what is wrong with a reply, by the endpoint's own row. */
function expectOwnWords(row: Endpoint, { status, headers, text }: RawReply): void {
  if (row.documents?.[String(headers['content-type']).split(';')[0] ?? '']) {
    expect(status).toBe(200);
    return;
  }
  expectCommonHeaders(new Headers(headers as Record<string, string>));
  const reply: Pick<Reply, 'status' | 'body'> = { status, body: JSON.parse(text) };
  if (reply.body.ok === true) {
    expectSuccess(row, reply);
    return;
  }
  const code = reply.body.error_code as ErrorCode;
  expect([...OF_EVERY_ENDPOINT, ...row.errors]).toContain(code);
  expectFailure(reply, code, row.errorStatus?.[code]);
  expect(reply.body.request_id).toBe(headers['x-request-id']);
}

function fieldsOf(row: Endpoint): GoodValues {
  const names = Object.keys((row.request as unknown as z.ZodObject).shape);
  return Object.fromEntries(names.map((name) => [name, good[name] ?? ['Any text']]));
}

/** Anything between a good file and bytes that are none. */
const csvFile = fc.oneof(
  fc
    .array(
      fc.array(fc.constantFrom('who', 'x', '', '"', '"a,b"', "'=1", '\0', '\u00fc', '\n'), { maxLength: 4 }),
    )
    .map((rows) => rows.map((cells) => cells.join(',')).join('\r\n')),
  fc.string({ unit: anyCharacter }),
  fc.uint8Array({ maxLength: 100 }),
);

/** Requests of all sorts to one endpoint; without credentials yet. */
function requestsTo(row: Endpoint, path: string): fc.Arbitrary<RawRequest> {
  const { method, upload } = row;
  if (upload) {
    const kind = { 'content-type': upload.contentType };
    return csvFile.map((body) => ({ method, path, headers: kind, body }));
  }
  const headers = { 'content-type': 'application/json' };
  const withQuery = queryRequest(fieldsOf(row)).map((query) => ({ method, path: `${path}?${query}` }));
  const withBody = jsonRequest(fieldsOf(row)).map((body) => ({ method, path, headers, body }));
  if (method === 'GET') return withQuery;
  return method === 'DELETE' ? fc.oneof(withQuery, withBody) : withBody;
}

const rows = [
  ...Object.entries<Endpoint>(publicContract).map(([name, row]) => ({ name, row, listener: 'api' as const })),
  ...Object.entries<Endpoint>(adminContract).map(([name, row]) => ({
    name,
    row,
    listener: 'admin' as const,
  })),
];

describe.each(rows)('$listener: $name', ({ row, listener }) => {
  it('answers in its own words', async () => {
    const isApi = listener === 'api';
    const path = (isApi ? PUBLIC_API_ROOT : ADMIN_API_ROOT) + row.path;
    await fc.assert(
      fc.asyncProperty(requestsTo(row, path), async (request) => {
        const authorization = isApi ? bearer : `Bearer ${server.runtimeSecret}`;
        const headers = { ...request.headers, authorization };
        const reply = await (isApi ? api : admin).send({ ...request, headers });
        expectOwnWords(row, reply);
      }),
      { numRuns: RUNS, includeErrorInReport: true },
    );
    expect((await server.get('/health/')).status).toBe(200);
  });
});

it('leaves the database sound', async () => {
  expect(await selectRows(server.dataDir, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  expect(await selectRows(server.dataDir, 'PRAGMA foreign_key_check')).toEqual([]);
  const { items } = await server.admin.listLicenses({ limit: 500 });
  for (const { license_id, activation_count } of items) {
    const devices = await server.admin.listDevices({ ref: String(license_id) });
    expect(devices.items.filter(({ released_at }) => released_at === null)).toHaveLength(activation_count);
  }
});
