// GET /certs/crl/: one list in three forms, asked for again cheaply, and never older than what was answered before.
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { success } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { dumpDatabase } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { expectCommonHeaders, expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { issue, serialsIn } from './issuing.ts';
import { fileOf, openssl } from './openssl.ts';

const DAY_MS = 86_400_000;
const PATH = '/certs/crl/';
const DER = 'application/pkix-crl';
const PEM = 'application/x-pem-file';
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer();
});
afterAll(() => server.stop());

const list = () => success(server, 'revocationList', {});
const ask = (headers: Record<string, string>, query = '') =>
  httpCall(`${server.api}${PATH}${query}`, { headers });

async function revokeOne() {
  const { certificate } = await issue(server);
  await server.admin.revokeCertificate({ id: certificate.id, reason: 'superseded' });
  return certificate;
}

async function bytesOf(headers: Record<string, string>, query = '') {
  const response = await fetch(`${server.api}${PATH}${query}`, { headers });
  return {
    status: response.status,
    headers: response.headers,
    bytes: Buffer.from(await response.arrayBuffer()),
  };
}

// The first of this file: nothing has been issued yet, not even the authority made.
it('is not made by a HEAD request, which has no effect', async () => {
  const before = await dumpDatabase(server.dataDir);
  const head = await httpCall(`${server.api}${PATH}`, { method: 'HEAD' });
  expect(head).toMatchObject({ status: 503, text: '' });
  expect(await dumpDatabase(server.dataDir)).toBe(before);
});

it('of a fresh server is empty, signed and good for a week', async () => {
  const before = Date.now();
  const reply = await list();
  expect(reply).toMatchObject({ ok: true, revoked: [], crl_number: expect.any(Number) as number });
  const [thisUpdate, nextUpdate] = [Date.parse(reply.this_update), Date.parse(reply.next_update)];
  expect(thisUpdate).toBeGreaterThanOrEqual(before - 301_000);
  expect(thisUpdate).toBeLessThanOrEqual(Date.now() - 300_000);
  expect(nextUpdate).toBeGreaterThanOrEqual(before + 7 * DAY_MS - 1000);
  expect(nextUpdate).toBeLessThanOrEqual(Date.now() + 7 * DAY_MS);
  const { authority } = await server.admin.showAuthority({});
  const files = ['-CAfile', fileOf(authority.ca_certificate), '-in', fileOf(reply.crl as string)];
  const shown = openssl(['crl', ...files, '-noout', '-text', '-lastupdate', '-nextupdate']);
  expect(shown).toContain('No Revoked Certificates.');
  const opensslDate = (ms: number) => {
    const [, day = '', month = '', year = '', time = ''] = /, (\d+) (\w+) (\d+) (\S+)/u.exec(
      new Date(ms).toUTCString(),
    )!;
    return `${month} ${day.replace(/^0/u, ' ')} ${time} ${year} GMT`;
  };
  expect(shown).toContain(`lastUpdate=${opensslDate(thisUpdate)}\n`);
  expect(shown).toContain(`nextUpdate=${opensslDate(nextUpdate)}\n`);
});

describe('the list', () => {
  it('is one and the same as JSON, as DER and as PEM', async () => {
    const certificate = await revokeOne();
    const reply = await list();
    const der = await listAs(server, 'der');
    expect(String(await listAs(server, 'pem'))).toBe(reply.crl);
    expect(openssl(['crl', '-outform', 'PEM'], reply.crl as string)).toBe(reply.crl);
    const inJson = reply.revoked.map((entry: { serial_number: string }) => entry.serial_number) as string[];
    expect(serialsIn(der).toSorted()).toEqual(inJson.toSorted());
    expect(serialsIn(der)).toContain(certificate.serial_number);
    expect(openssl(['crl', '-inform', 'DER', '-noout', '-crlnumber'], der)).toBe(
      `crlNumber=0x${(reply.crl_number as number)
        .toString(16)
        .toUpperCase()
        .replace(/^(?=(?:..)*.$)/u, '0')}\n`,
    );
    const { authority } = await server.admin.showAuthority({});
    const issuer = openssl(['crl', '-inform', 'DER', '-noout', '-issuer', '-nameopt', 'RFC2253'], der);
    expect(issuer).toBe(`issuer=${authority.subject}\n`);
    expect(new X509Certificate(authority.ca_certificate).subject.split('\n').toReversed().join(',')).toBe(
      authority.subject,
    );
  });

  it.each([
    ['?format=der', {}, DER],
    ['?format=pem', {}, PEM],
    ['?format=json', {}, 'application/json; charset=utf-8'],
    ['', {}, 'application/json; charset=utf-8'],
    ['', { accept: '*/*' }, 'application/json; charset=utf-8'],
    ['', { accept: 'text/html' }, 'application/json; charset=utf-8'],
    ['', { accept: DER }, DER],
    ['', { accept: PEM }, PEM],
    ['', { accept: `application/json;q=0.5, ${DER}` }, DER],
    ['?format=pem', { accept: DER }, PEM],
    ['?format=json', { accept: DER }, 'application/json; charset=utf-8'],
  ])('%s with %j is %s', async (query, headers, type) => {
    const reply = await bytesOf(headers as Record<string, string>, query);
    expect(reply.status).toBe(200);
    const { crl_number: number } = await list();
    const format = type === DER ? 'der' : type === PEM ? 'pem' : 'json';
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'content-type': type,
      'content-length': String(reply.bytes.length),
      'cache-control': 'no-cache',
      vary: 'Accept',
      etag: `"${number}-${format}"`,
      'x-content-type-options': 'nosniff',
    });
    if (format === 'json') expectCommonHeaders(reply.headers);
    const firstByte = { der: 0x30, pem: 0x2d, json: 0x7b }[format];
    expect(reply.bytes[0]).toBe(firstByte);
  });

  it('is of no other form', async () => {
    for (const query of ['?format=xml', '?format=', '?format=der&format=pem'])
      expectFailure(await server.get(PATH + query), 'invalid_request');
  });

  it('answers HEAD with its headers', async () => {
    for (const query of ['', '?format=der']) {
      const { text, ...head } = await httpCall(`${server.api}${PATH}${query}`, { method: 'HEAD' });
      const full = await ask({}, query);
      expect([head.status, text]).toEqual([200, '']);
      for (const name of ['etag', 'content-type', 'content-length', 'vary', 'cache-control'])
        expect(head.headers.get(name)).toBe(full.headers.get(name));
    }
  });
});

describe('If-None-Match', () => {
  it.each<[string, (etag: string) => string, number]>([
    ['the tag', (etag) => etag, 304],
    ['the tag as a weak one', (etag) => `W/${etag}`, 304],
    ['a list with the tag', (etag) => `"1-json", W/"2-json" ,${etag}`, 304],
    ['anything', () => '*', 304],
    ['another tag', () => '"1-json"', 200],
    ['the tag of another form', (etag) => etag.replace('json', 'der'), 200],
    ['the tag without quotes', (etag) => etag.replaceAll('"', ''), 200],
    ['nothing', () => '', 200],
  ])('with %s', async (_what, make, status) => {
    const { headers } = await ask({});
    const etag = headers.get('etag') as string;
    const reply = await ask({ 'if-none-match': make(etag) });
    expect(reply.status).toBe(status);
    expect(reply.headers.get('etag')).toBe(etag);
    expect(reply.headers.get('vary')).toBe('Accept');
    expect(reply.headers.get('x-request-id')).toMatch(/\S/u);
    if (status === 304) {
      expect(reply.text).toBe('');
      expect(reply.headers.has('content-type')).toBe(false);
      expect(reply.headers.get('cache-control')).toBe('no-cache');
    }
  });

  it('of the list before a revocation gets the new one', async () => {
    const { headers } = await ask({ accept: DER });
    const stale = { accept: DER, 'if-none-match': headers.get('etag') as string };
    expect((await ask(stale)).status).toBe(304);
    const { serial_number } = await revokeOne();
    const { status, bytes } = await bytesOf(stale);
    expect(status).toBe(200);
    expect(serialsIn(bytes)).toContain(serial_number);
  });
});

describe('its number', () => {
  it('grows with every revocation, and with nothing else', async () => {
    const numbers: number[] = [];
    for (let round = 0; round < 3; round += 1) {
      await revokeOne();
      numbers.push((await list()).crl_number as number, (await list()).crl_number as number);
    }
    const [a, a2, b, b2, c, c2] = numbers as [number, number, number, number, number, number];
    expect([a2, b2, c2]).toEqual([a, b, c]);
    expect(a < b && b < c).toBe(true);
    await issue(server);
    expect((await list()).crl_number).toBe(c);
  });

  it('grows over a restart', async () => {
    const own = await startTestServer({ dataDir: await keptDataDir() });
    const first = (await success(own, 'revocationList', {})).crl_number as number;
    const { certificate } = await issue(own);
    await own.stop();
    const again = await startTestServer({ dataDir: own.dataDir });
    expect((await success(again, 'revocationList', {})).crl_number).toBe(first);
    await again.admin.revokeCertificate({ id: certificate.id });
    const { crl_number, revoked } = await success(again, 'revocationList', {});
    expect(crl_number).toBeGreaterThan(first);
    expect(revoked).toMatchObject([{ serial_number: certificate.serial_number }]);
    await again.stop();
  });
});
