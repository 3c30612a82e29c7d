import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { adminContract } from '../../server/contract.ts';
import type { Endpoint } from '../../server/platform/endpoint.ts';
import { type AdminRowName, activateDevice, newBearer, newLicense, ROWS } from '../helpers/contract-calls.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { expectCommonHeaders, expectSuccess } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

/** Of a row that is called with nonsense only; what changes the server for the other calls is left out. */
const ADMIN_ROWS = (Object.entries(adminContract) as [AdminRowName, Endpoint][]).filter(
  ([name]) => name !== 'rotateSigningKey' && name !== 'signOut',
);
/** The same values at each run, so that a failure repeats. */
const RUNS = { numRuns: 150, seed: 20261120 };

let server: TestServer;
let bearer: Record<string, string>;
/** Values that a field may really have, so that nonsense in one field meets sense in the others. */
let sensible: unknown[];

beforeAll(async () => {
  server = await startTestServer();
  bearer = await newBearer(server);
  const license = await newLicense(server, { plan: 'enterprise' });
  const { license_file, activation } = await activateDevice(server, license);
  const { token } = await server.admin.issueToken({ license: license.license_key });
  sensible = [
    license.license_key,
    license.license_id,
    license_file,
    activation.machine_fingerprint,
    token,
    'trial',
  ];
});
afterAll(() => server.stop());

const HOSTILE: unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  0.1,
  2 ** 31,
  2 ** 32,
  2 ** 53,
  2 ** 63,
  1e308,
  -1e308,
  '',
  ' ',
  '0',
  '-1',
  '1e3',
  'null',
  'undefined',
  'NaN',
  'true',
  '[]',
  '{}',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '\u202e',
  '\ufeff',
  '%00',
  '%',
  '\\',
  "'",
  '"',
  "' OR 1=1 --",
  '$1',
  '$now',
  ':id',
  '?',
  '../../etc/passwd',
  '<script>',
  'a'.repeat(64),
  'a'.repeat(300),
  '😀'.repeat(100),
  '9999-12-31T23:59:59Z',
  '1970-01-01T00:00:00Z',
  '0000-01-01T00:00:00Z',
  '2026-02-29T00:00:00Z',
  '2026-01-01T00:00:00+14:00',
  `sha256:${'0'.repeat(64)}`,
  `SHA256:${'0'.repeat(64)}`,
  [],
  [[]],
  {},
  { $gt: 0 },
  { toString: 1 },
  [1, 'a', null],
  'standard',
];

function inputs(row: Endpoint): fc.Arbitrary<Record<string, unknown>> {
  const value = fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom(...HOSTILE) },
    { weight: 4, arbitrary: fc.constantFrom(...sensible) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
    { weight: 1, arbitrary: fc.double() },
    { weight: 1, arbitrary: fc.jsonValue() as fc.Arbitrary<unknown> },
  );
  const fields = Object.keys((row.request as z.ZodObject).shape);
  return fc.record(Object.fromEntries(fields.map((field) => [field, value])), { requiredKeys: [] });
}

/** Sends the input and checks what no reply may ever be: a crash, or anything that the contract does not know. */
async function attempt(
  url: string,
  row: Endpoint,
  input: Record<string, unknown>,
  headers: Record<string, string>,
) {
  const inQuery = row.method === 'GET' || row.method === 'DELETE';
  const query = Object.entries(input).map(([name, value]) => {
    const text = typeof value === 'string' ? value.toWellFormed() : JSON.stringify(value);
    return `${name}=${encodeURIComponent(text)}`;
  });
  const reply = await jsonCall(inQuery ? `${url}?${query.join('&')}` : url, {
    method: row.method,
    headers: { ...headers, ...(inQuery ? {} : { 'content-type': 'application/json' }) },
    ...(inQuery ? {} : { body: JSON.stringify(input) }),
  });
  expectCommonHeaders(reply.headers);
  if (reply.status === 200) {
    expectSuccess(row, reply);
    return;
  }
  expect(reply.body).toMatchObject({ ok: false, error_code: expect.stringMatching(/^[a-z_]+$/u) as string });
  expect([400, 401, 403, 404, 409]).toContain(reply.status);
}

describe('whatever is sent', () => {
  it.each(ROWS)('%s answers within the contract', async (_name, row) => {
    await fc.assert(
      fc.asyncProperty(inputs(row), (input) => attempt(server.api + row.path, row, input, bearer)),
      RUNS,
    );
  });

  it.each(ADMIN_ROWS)('the back office’s %s answers within the contract', async (_name, row) => {
    const headers = { authorization: `Bearer ${server.runtimeSecret}` };
    const url = `${server.adminOrigin}/admin/api${row.path}`;
    await fc.assert(
      fc.asyncProperty(inputs(row), (input) => attempt(url, row, input, headers)),
      RUNS,
    );
  });
});
