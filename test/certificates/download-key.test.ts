// GET /certs/download-key/: the private key goes out once, and to nobody who comes late, twice or with a wrong token.
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminSuccess, newLicense, success } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { expectCommonHeaders, expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { openDesk } from './desk.ts';
import { issueWithKey, newSigningRequest } from './issuing.ts';
import { fileOf, openssl } from './openssl.ts';
import { runUpkeep } from './upkeep.ts';

const QUARTER_MS = 15 * 60_000;
const START = Math.floor(Date.now() / 1000) * 1000;
const clock = createTestClock(START);
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());
beforeEach(() => clock.set(START));

const path = (token: string) => `/certs/download-key/?token=${encodeURIComponent(token)}`;
const download = (token: string, headers?: Record<string, string>) => server.get(path(token), headers);
const keysOf = (id: number) =>
  selectRows(server.dataDir, `SELECT * FROM certificate_keys WHERE certificate_id = ${id}`);

describe('the private key', () => {
  it('is that of the certificate, in PKCS#8, and comes with both certificates', async () => {
    const issued = await issueWithKey(server);
    const reply = await success(server, 'downloadKey', { token: issued.download_token });
    const { private_key, certificate, ca_certificate } = reply;
    expect([certificate, ca_certificate]).toEqual([issued.certificate.pem, issued.ca_certificate]);
    expect(private_key).toMatch(/^-----BEGIN PRIVATE KEY-----\n(?:.{1,64}\n)+-----END PRIVATE KEY-----\n$/u);
    const key = createPrivateKey(private_key as string);
    expect(new X509Certificate(certificate as string).checkPrivateKey(key)).toBe(true);
    openssl(['pkey', '-check', '-noout'], private_key as string);
  });

  it('is downloaded unchanged by the link', async () => {
    const { download_url } = await issueWithKey(server);
    const response = await fetch(download_url);
    expect(response.status).toBe(200);
    expectCommonHeaders(response.headers);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(response.headers.has('etag')).toBe(false);
  });

  it.each([
    'application/x-pem-file',
    'application/x-pem-file, application/json;q=0.5',
    'text/html, application/x-pem-file',
  ])('comes in one file with them for Accept: %s', async (accept) => {
    const { download_token, download_url, certificate, ca_certificate } = await issueWithKey(server);
    const { status, headers, text } = await httpCall(download_url, { headers: { accept } });
    expect(status).toBe(200);
    expect(Object.fromEntries(headers)).toMatchObject({
      'content-type': 'application/x-pem-file',
      'cache-control': 'no-store',
      vary: 'Accept',
      'x-content-type-options': 'nosniff',
      'content-length': String(text.length),
    });
    expect(text.endsWith(certificate.pem + ca_certificate)).toBe(true);
    const file = fileOf(text);
    openssl(['pkcs12', '-export', '-in', file, '-passout', 'pass:x', '-out', '/dev/null']);
    openssl(['verify', '-CAfile', file, '-untrusted', file, file]);
    expect(text.match(/-----BEGIN /gu)).toHaveLength(3);
    expectFailure(await download(download_token), 'download_token_invalid');
  });

  it.each(['*/*', 'application/*', 'text/html', 'application/json, application/x-pem-file', ''])(
    'comes as JSON for Accept: %s',
    async (accept) => {
      const { download_token } = await issueWithKey(server);
      const reply = await download(download_token, { accept });
      expect(Object.keys(reply.body as object)).toEqual([
        'ok',
        'private_key',
        'certificate',
        'ca_certificate',
      ]);
    },
  );

  it('can be fetched until the last millisecond of a quarter of an hour, and is wiped soon after', async () => {
    const [first, second, third] = [
      await issueWithKey(server),
      await issueWithKey(server),
      await issueWithKey(server),
    ];
    expect(first.download_expires_at).toBe(new Date(START + QUARTER_MS).toISOString());
    clock.set(START + QUARTER_MS - 1);
    expect((await runUpkeep(server.dataDir, clock)).keysWiped).toBe(0);
    expect((await download(first.download_token)).status).toBe(200);
    clock.advance(1);
    expectFailure(await download(second.download_token), 'download_token_invalid');
    expect(await keysOf(third.certificate.id)).toHaveLength(1);
    expect((await runUpkeep(server.dataDir, clock)).keysWiped).toBeGreaterThanOrEqual(2);
    expect(await selectRows(server.dataDir, 'SELECT * FROM certificate_keys')).toEqual([]);
    clock.set(START);
    expectFailure(await download(third.download_token), 'download_token_invalid');
  });

  it('is deleted from the database by its download, which is in the audit log', async () => {
    const { download_token, certificate } = await issueWithKey(server);
    expect(await keysOf(certificate.id)).toHaveLength(1);
    await download(download_token);
    expect(await keysOf(certificate.id)).toEqual([]);
    const { items } = await adminSuccess(server, 'listAudit', { subject: `certificate:${certificate.id}` });
    expect(items[0]).toMatchObject({
      action: 'certificate.key_downloaded',
      actor_kind: 'public',
      before: null,
      after: { serial_number: certificate.serial_number },
    });
    expect(JSON.stringify(items)).not.toContain(download_token.slice(4));
  });

  it('is not created for a caller with a signing request', async () => {
    const { csr } = newSigningRequest();
    const { certificate, ...others } = await issueWithKey(server, { csr });
    expect(others.download_token).toBeUndefined();
    expect(await keysOf(certificate.id)).toEqual([]);
  });

  it('can still be fetched after the certificate was revoked, as that is no secret of ours to keep', async () => {
    const { download_token, certificate } = await issueWithKey(server);
    await server.admin.revokeCertificate({ id: certificate.id });
    expect((await download(download_token)).status).toBe(200);
  });
});

describe('HEAD', () => {
  it('is refused, and burns nothing', async () => {
    const { download_url, download_token } = await issueWithKey(server);
    for (const url of [download_url, download_url.replace('/?', '?')]) {
      const { status, headers, text } = await httpCall(url, { method: 'HEAD' });
      expect([status, headers.get('allow'), text]).toEqual([405, 'GET', '']);
    }
    expect((await download(download_token)).status).toBe(200);
  });

  it.each(['POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH'])('%s is refused as well', async (method) => {
    const { download_url, download_token } = await issueWithKey(server);
    const { status, headers } = await httpCall(download_url, { method });
    expect([status, headers.get('allow')]).toEqual([405, 'GET']);
    expect((await download(download_token)).status).toBe(200);
  });
});

describe('a token', () => {
  it('that is unknown, used, expired, misspelt or missing is answered the same', async () => {
    const [used, expired, good] = [
      await issueWithKey(server),
      await issueWithKey(server),
      await issueWithKey(server),
    ];
    await download(used.download_token);
    clock.advance(QUARTER_MS);
    const { download_token: token } = good;
    const wrong = [
      used.download_token,
      expired.download_token,
      `ldd_${'A'.repeat(43)}`,
      `${token}x`,
      token.slice(0, -1),
      token.slice(4),
      token.toUpperCase(),
      ` ${token}`,
      `${token}\u0000`,
      `' OR 1=1 --`,
      'x'.repeat(4096),
      'x'.repeat(10_000),
      '',
    ].map(path);
    clock.set(START);
    const replies = [];
    for (const each of [...wrong.slice(2), '/certs/download-key/', '/certs/download-key'])
      replies.push(await server.get(each));
    clock.advance(QUARTER_MS);
    for (const each of wrong.slice(0, 2)) replies.push(await server.get(each));
    for (const reply of replies) {
      expectFailure(reply, 'download_token_invalid');
      expect(reply.headers.get('cache-control')).toBe('no-store');
    }
    const bodies = replies.map(({ body: { request_id: _id, ...body } }) => JSON.stringify(body));
    expect(new Set(bodies).size).toBe(1);
    const lengths = replies.map(({ headers }) => headers.get('content-length'));
    expect(new Set(lengths).size).toBe(1);
    clock.set(START);
    expect((await download(token)).status).toBe(200);
  });

  it('counts in the query only', async () => {
    const { download_token } = await issueWithKey(server);
    const headers = { authorization: `Bearer ${download_token}`, 'x-token': download_token };
    expectFailure(await server.get('/certs/download-key/', headers), 'download_token_invalid');
    expect((await download(download_token)).status).toBe(200);
  });

  it('given twice is no request, and burns nothing', async () => {
    const { download_token } = await issueWithKey(server);
    const twice = `${path(download_token)}&token=${download_token}`;
    expectFailure(await server.get(twice), 'invalid_request');
    expect((await download(download_token)).status).toBe(200);
  });
});

describe('a download that fails', () => {
  it('before the key is out leaves it where it is', async () => {
    const { download_token } = await issueWithKey(server);
    const obstacle = `CREATE TRIGGER obstacle BEFORE INSERT ON audit_entries BEGIN SELECT RAISE(ABORT, 'no'); END`;
    await writeRows(server.dataDir, obstacle);
    expectFailure(await download(download_token), 'internal_error');
    await writeRows(server.dataDir, 'DROP TRIGGER obstacle');
    expect((await download(download_token)).status).toBe(200);
  });

  it('because the client has left before its turn leaves it, too', async () => {
    const desk = await openDesk(createTestClock(START));
    const { license_id } = await newLicense(desk as unknown as TestServer);
    const issued = await desk.admin.generateCertificate({ license_id, common_name: 'client' });
    const { download_token: token } = issued as typeof issued & { download_token: string };
    await expect(desk.gone.downloadKey({ token })).rejects.toMatchObject({
      message: 'the caller closed the connection',
    });
    expect(await desk.admin.downloadKey({ token })).toMatchObject({ certificate: issued.certificate.pem });
  });
});
