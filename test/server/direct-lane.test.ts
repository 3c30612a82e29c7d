// Public endpoints are answered ahead of Express. Nobody may notice: each request is sent both ways, and the replies are
// compared. Express gets it under a path in capitals, which it takes as the same.
import * as fc from 'fast-check';
import { beforeAll, describe, expect, it } from 'vitest';
import { newFingerprint, newLicense } from '../helpers/contract-calls.ts';
import { jsonRequest } from '../helpers/nasty-json.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { startTestServer } from '../helpers/test-server.ts';

const JSON_TYPE = { 'content-type': 'application/json' };
const server = sharedServer();
let token: string;
let licenseKey: string;

beforeAll(async () => {
  ({ license_key: licenseKey } = await newLicense(server, { plan: 'enterprise' }));
  ({ token } = await server.admin.issueToken({ license: licenseKey }));
});

/** What differs between any two calls. */
const VARIABLE = new Set(['date', 'x-request-id']);
const ELSEWHERE =
  /"(?:request_id|time|uptime_seconds|signed_at|license_file|activated_at)":(?:"[^"]*"|[\d.]+)/gu;

interface Sent {
  method?: string;
  headers?: Record<string, string>;
  body?: string | Buffer;
}

async function replyOf(path: string, call: Sent) {
  const { status, headers, text } = await httpCall(server.api + path, call);
  const given = [...headers].filter(([name]) => !VARIABLE.has(name) && name !== 'content-length');
  return { status, headers: Object.fromEntries(given), text: text.replaceAll(ELSEWHERE, '') };
}

async function expectSameBothWays(path: string, call: Sent): Promise<void> {
  const direct = await replyOf(path, call);
  const viaExpress = await replyOf(path.toUpperCase(), call);
  // A message that names the path names it as it was sent.
  expect({ ...direct, text: direct.text.toLowerCase() }).toEqual({
    ...viaExpress,
    text: viaExpress.text.toLowerCase(),
  });
}

const post = (path: string, body: string | Buffer, headers: Record<string, string> = JSON_TYPE) =>
  expectSameBothWays(path, { method: 'POST', body, headers });

const PATHS = [
  '/authorize/token/',
  '/authorize/',
  '/activate/',
  '/validate-offline/',
  '/certs/validate/',
  '/leases/checkout/',
  '/leases/heartbeat/',
];

describe.each(PATHS)('POST %s is the same both ways', (path) => {
  it.each([
    '',
    ' ',
    '{}',
    'null',
    '"text"',
    '1',
    '[1]',
    '{',
    '{} {}',
    '\uFEFF{}',
    '\uFEFF',
    '{"token":null}',
    '{"token":""}',
    '{"token":1}',
    '{"token":"ldt_x"}',
    '{"token":"x","token":2}',
    '{"token":"x","product_slug":"A"}',
    '{"token":"x","product_slug":null}',
    '{"__proto__":{"token":"x"}}',
    '{"license_key":"01234-56789-ABCDE-FGHJK-MTS3K"}',
    '{"license_key":"wrong"}',
    `{"license_key":"${'0'.repeat(65)}"}`,
    '{"license_key":"01234-56789-ABCDE-FGHJK-MTS3K","machine_fingerprint":"x"}',
    '{"license_key":"01234-56789-ABCDE-FGHJK-MTS3K","feature":" "}',
    '{"license_key":"01234-56789-ABCDE-FGHJK-MTS3K","product_slug":"a/b"}',
    '{"lease_token":"lds_x"}',
    '{"lease_token":1}',
    '{"lease_token":"lds_x","leases":["lds_y"]}',
    '{"leases":["lds_x",""]}',
    '{"leases":[]}',
    '{"leases":[1]}',
    '{"leases":"lds_x"}',
  ])('with the body %s', async (body) => {
    await post(path, body);
  });

  it('with bytes that are no text, too many, or none', async () => {
    await post(path, Buffer.from([0x7b, 0xff, 0x7d]));
    await post(path, Buffer.from('{"token":"x"}', 'utf16le'));
    await post(path, `{"padding":"${'x'.repeat(20_000)}"}`);
    await post(path, `{"padding":"${'x'.repeat(70_000)}"}`);
    await expectSameBothWays(path, { method: 'POST' });
    await expectSameBothWays(path, { method: 'POST', headers: JSON_TYPE });
  });

  it.each([
    'application/json; charset=utf-8',
    'APPLICATION/JSON;charset=UTF-8',
    'application/json; charset=latin1',
    'application/json; charset="utf-8"',
    'application/json; a=b',
    'application/jsonp',
    'text/plain',
    '',
  ])('as %s', async (type) => {
    await post(path, JSON.stringify({ token }), { 'content-type': type });
  });

  it('with other headers', async () => {
    const body = JSON.stringify({ token, license_key: licenseKey });
    const others: Record<string, string>[] = [
      { 'content-encoding': 'gzip' },
      { 'content-encoding': 'identity' },
      { 'transfer-encoding': 'chunked' },
      { 'x-request-id': 'mine' },
      { 'x-request-id': 'not sane' },
      { 'idempotency-key': 'once' },
      { 'x-forwarded-for': '10.0.0.1' },
      { connection: 'close' },
    ];
    for (const headers of others) await post(path, body, { ...JSON_TYPE, ...headers });
  });

  it.each(['GET', 'HEAD', 'PUT', 'DELETE', 'OPTIONS'])('called with %s', async (method) => {
    await expectSameBothWays(path, { method });
  });

  it('with random JSON', async () => {
    const body = jsonRequest({
      token: [token],
      license_key: [licenseKey],
      product_slug: ['my-product', 'other'],
      machine_fingerprint: [newFingerprint()],
      feature: ['ocr'],
    });
    await fc.assert(
      fc.asyncProperty(body, async (text) => post(path, text)),
      { numRuns: 40, seed: 11 },
    );
  });
});

describe('good calls are the same both ways', () => {
  it('of tokens and licenses', async () => {
    for (const product_slug of [undefined, 'my-product', 'another']) {
      await post('/authorize/token/', JSON.stringify({ token, product_slug }));
      await post('/authorize/', JSON.stringify({ license_key: licenseKey, product_slug }));
    }
    const typed = licenseKey.toLowerCase().replaceAll('-', ' ');
    await post('/authorize/', JSON.stringify({ license_key: typed, unknown: 1 }));
    const device = { license_key: licenseKey, machine_fingerprint: newFingerprint() };
    await server.post('/activate/', device);
    await post('/activate/', JSON.stringify(device));
    await post('/authorize/', JSON.stringify(device));
  });

  it.each(['/health/', '/health/live/', '/health/ready/', '/public-key/'])('of %s', async (path) => {
    for (const method of ['GET', 'HEAD', 'POST']) await expectSameBothWays(path, { method });
    await expectSameBothWays(path, { headers: { 'content-length': '0' } });
    await expectSameBothWays(`${path}?a=b`, {});
  });
});

it('counts calls both ways together', async () => {
  const limited = await startTestServer({ flags: { 'rate-limit': '4' } });
  try {
    const seen: unknown[] = [];
    for (const path of [
      '/authorize/token/',
      '/AUTHORIZE/TOKEN/',
      '/authorize/token',
      '/authorize/token/?',
      '/authorize/token/',
    ]) {
      const { status, headers } = await httpCall(limited.api + path, {
        method: 'POST',
        headers: JSON_TYPE,
        body: '{"token":"x"}',
      });
      seen.push([status, headers.get('ratelimit-remaining'), headers.get('ratelimit-limit')]);
    }
    expect(seen).toEqual([
      [401, '3', '4'],
      [401, '2', '4'],
      [401, '1', '4'],
      [401, '0', '4'],
      [429, '0', '4'],
    ]);
  } finally {
    await limited.stop();
  }
});
