import { brotliCompressSync, gzipSync } from 'node:zlib';
import { beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { newBearer, newFingerprint, newLicense, ROWS_WITH_BODY, SAMPLES } from '../helpers/contract-calls.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure, expectSuccess } from '../helpers/strict-reply.ts';

const LIMIT = 64 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const server = sharedServer();
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

/** Sends exactly these bytes. */
function send(
  method: string,
  path: string,
  body: string | Buffer,
  headers: Record<string, string> = JSON_TYPE,
) {
  return jsonCall(server.api + path, { method, body, headers: { ...bearer, ...headers } });
}

const ok = (body: string) => JSON.stringify({ license_key: 'x', padding: body });

describe.each(ROWS_WITH_BODY)('the body of %s', (name, row) => {
  it.each([
    '{',
    '{"a":}',
    "{'a':1}",
    'undefined',
    'NaN',
    '{} {}',
    '{"a":1,}',
    '\u0000',
    '"',
    '{"a":"\u0001"}',
    '<xml/>',
  ])('is refused where it is no JSON: %j', async (body) =>
    expectFailure(await send(row.method, row.path, body), 'invalid_json'),
  );

  it.each(['null', '[]', '[{}]', '"text"', '""', '12', '-0', 'true', 'false'])(
    'is refused where it is no object: %s',
    async (body) => {
      const reply = await send(row.method, row.path, body);
      expectFailure(reply, 'invalid_request');
      expect(reply.body.details).toHaveLength(1);
    },
  );

  it.each([
    ['another type', 'text/plain'],
    ['a form', 'application/x-www-form-urlencoded'],
    ['something like JSON', 'application/problem+json'],
    ['JSON for another reader', 'text/json'],
    ['no type that there is', 'nonsense'],
    ['several parts', 'multipart/form-data; boundary=x'],
    ['another charset', 'application/json; charset=iso-8859-1'],
    ['an unknown charset', 'application/json; charset=klingon'],
  ])('is refused as %s', async (_name, type) => {
    expectFailure(
      await send(row.method, row.path, ok('x'), { 'content-type': type }),
      'unsupported_media_type',
    );
  });

  it('is refused without a type, and in an unknown encoding', async () => {
    expectFailure(await send(row.method, row.path, ok('x'), {}), 'unsupported_media_type');
    const headers = { ...JSON_TYPE, 'content-encoding': 'snappy' };
    expectFailure(await send(row.method, row.path, ok('x'), headers), 'unsupported_media_type');
  });

  it('may say UTF-8 in any case, and be spaced out', async () => {
    for (const type of [
      'application/json; charset=UTF-8',
      'APPLICATION/JSON',
      'application/json;charset="utf-8"',
    ]) {
      const body = `\r\n\t ${JSON.stringify(await SAMPLES[name](server))} \n`;
      expectSuccess(row, await send(row.method, row.path, body, { 'content-type': type }));
    }
  });

  it('may be 64 KiB, and not a byte more', async () => {
    const padded = (input: object, size: number) => {
      const empty = JSON.stringify({ ...input, padding: '' });
      return JSON.stringify({ ...input, padding: 'x'.repeat(size - Buffer.byteLength(empty)) });
    };
    expectSuccess(row, await send(row.method, row.path, padded(await SAMPLES[name](server), LIMIT)));
    for (const size of [LIMIT + 1, 5 * LIMIT, 50 * LIMIT]) {
      expectFailure(await send(row.method, row.path, padded({}, size)), 'payload_too_large');
    }
  });

  it('is cut off at 64 KiB when it comes in chunks, or unpacks to more', async () => {
    const large = Buffer.from(ok('x'.repeat(1_000_000)));
    const chunked = { ...JSON_TYPE, 'transfer-encoding': 'chunked' };
    expectFailure(await send(row.method, row.path, large, chunked), 'payload_too_large');
    const gzip = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    expectFailure(await send(row.method, row.path, gzipSync(large), gzip), 'payload_too_large');
  });

  it('refuses a wrong type in each field, and names the field', async () => {
    const sample = await SAMPLES[name](server);
    const fields = Object.keys((row.request as z.ZodObject).shape);
    expect(fields.length).toBeGreaterThan(0);
    for (const field of fields) {
      // An object without members says nothing wrong about these.
      const objects = ['match', 'match_changes', 'custom_fields'].includes(field) ? [] : [{}];
      for (const wrong of [...objects, { length: 1 }, [[]], 1.5, 1e300]) {
        const reply = await server.call(row.method, row.path, { ...sample, [field]: wrong }, bearer);
        expectFailure(reply, 'invalid_request');
        const paths = (reply.body.details as { path: string }[]).map(({ path }) => path.split('.')[0]);
        expect(paths, `${field}: ${JSON.stringify(wrong)}`).toContain(field);
      }
    }
  });

  it('keeps numbers, texts and truth apart', async () => {
    const sample = await SAMPLES[name](server);
    for (const [field, value] of Object.entries(sample)) {
      const others =
        typeof value === 'number' ? [String(value), true, null, [value]] : [1, true, null, [value]];
      for (const wrong of others) {
        const reply = await server.call(row.method, row.path, { ...sample, [field]: wrong }, bearer);
        // `license` is an ID or a key.
        const isValid =
          (wrong === null && NULL_CLEARS.has(`${name}.${field}`)) || (wrong === 1 && field === 'license');
        if (isValid) expectSuccess(row, reply);
        else expectFailure(reply, wrong === null && field === 'token' ? 'missing_token' : 'invalid_request');
      }
    }
  });
});

/** Fields whose value an update removes with null. */
const NULL_CLEARS = new Set([
  'updateLicense.email',
  'updateLicense.order_number',
  'updateLicense.notes',
  'updateLicense.custom_fields',
]);

describe('a body', () => {
  const activation = async () => ({
    license_key: (await newLicense(server)).license_key,
    machine_fingerprint: newFingerprint(),
  });

  it('may be packed, but not broken', async () => {
    const bytes = Buffer.from(JSON.stringify(await activation()));
    const encodings: [string, Buffer][] = [
      ['gzip', gzipSync(bytes)],
      ['br', brotliCompressSync(bytes)],
    ];
    for (const [encoding, packed] of encodings) {
      const headers = { ...JSON_TYPE, 'content-encoding': encoding };
      expect((await send('POST', '/activate/', packed, headers)).status).toBe(200);
      expectFailure(await send('POST', '/activate/', bytes, headers), 'invalid_request');
      expectFailure(await send('POST', '/activate/', packed.subarray(0, 20), headers), 'invalid_request');
    }
  });

  it('is UTF-8 and nothing else', async () => {
    const fields = JSON.stringify({ ...(await activation()), machine_name: 'caf?' });
    const latin1 = Buffer.from(fields.replace('caf?', 'caf\u00e9'), 'latin1');
    expectFailure(await send('POST', '/activate/', latin1), 'invalid_json');
    const utf16 = { 'content-type': 'application/json; charset=utf-16le' };
    expectFailure(
      await send('POST', '/activate/', Buffer.from(fields, 'utf16le'), utf16),
      'unsupported_media_type',
    );
    const utf8 = await send('POST', '/activate/', Buffer.from(fields.replace('caf?', 'caf\u00e9')));
    expect(utf8.body.activation.machine_name).toBe('caf\u00e9');
  });

  it('may be nested as deeply as it fits', async () => {
    const input = JSON.stringify(await activation()).slice(0, -1);
    for (const [open, close] of [
      ['[', ']'],
      ['{"a":', '}'],
    ] as const) {
      const depth = Math.floor(60_000 / (open.length + 1));
      const body = `${input},"deep":${open.repeat(depth)}1${close.repeat(depth)}}`;
      expect((await send('POST', '/activate/', body)).status).toBe(200);
    }
  });

  it('changes no prototype', async () => {
    const input = JSON.stringify(await activation()).slice(0, -1);
    const reply = await send(
      'POST',
      '/activate/',
      `${input},"__proto__":{"encrypt":true},"constructor":{"prototype":{}}}`,
    );
    expect(reply.status).toBe(200);
    expect(({} as { encrypt?: unknown }).encrypt).toBeUndefined();
    const key = (await newLicense(server)).license_key;
    const inherited = `{"machine_fingerprint":"${newFingerprint()}","__proto__":{"license_key":"${key}"}}`;
    expectFailure(await send('POST', '/activate/', inherited), 'invalid_request');
  });

  it('may be left out, which is the same as an empty object', async () => {
    const empty = [undefined, '', '{}'];
    for (const body of empty) {
      const call = { method: 'POST', headers: JSON_TYPE, ...(body === undefined ? {} : { body }) };
      expectFailure(await jsonCall(`${server.api}/authorize/token/`, call), 'missing_token');
      expectFailure(await jsonCall(`${server.api}/activate/`, call), 'invalid_request');
    }
    expectFailure(await jsonCall(`${server.api}/authorize/token/`, { method: 'POST' }), 'missing_token');
  });

  it('is not looked at before the caller has shown a token', async () => {
    for (const body of ['{', 'x'.repeat(100_000)]) {
      const reply = await jsonCall(`${server.api}/renew/`, { method: 'POST', headers: JSON_TYPE, body });
      expectFailure(reply, 'unauthorized');
    }
  });
});

const BAD_TEXTS: [string, string][] = [
  ['a NUL', 'a\u0000b'],
  ['a line break', 'a\nb'],
  ['an escape', '\u001b[31m'],
  ['half of a surrogate pair', 'a\ud83d'],
  ['the other half', '\ude00b'],
  ['nothing but blanks', ' \t '],
  ['nothing', ''],
  ['one character too many', 'x'.repeat(201)],
];
const GOOD_TEXTS = [
  '株式会社ノルド',
  'Ústav soudního lékařství',
  'شركة الأدلة',
  '😀 & <script>',
  'x'.repeat(200),
  "'; DROP TABLE licenses; --",
];

describe('a text', () => {
  it.each(BAD_TEXTS)('may not be %s', async (_name, bad) => {
    expectFailure(
      await server.post('/plans/', { name: 'bad-text', display_name: bad }, bearer),
      'invalid_request',
    );
    await expect(server.admin.createLicense({ holder: bad })).rejects.toMatchObject({
      code: 'invalid_request',
    });
  });

  it.each(GOOD_TEXTS)('comes back as it was given: %s', async (good) => {
    const { license_key, holder } = await newLicense(server, { holder: good });
    expect(holder).toBe(good);
    const reply = await server.post('/activate/', {
      license_key,
      machine_fingerprint: newFingerprint(),
      machine_name: good,
    });
    expect([reply.body.license.holder, reply.body.activation.machine_name]).toEqual([good, good]);
    expect((await server.admin.showLicense({ ref: license_key })).license.holder).toBe(good);
  });
});
