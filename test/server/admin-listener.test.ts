import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { adminContract } from '#server/contract.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { type AdminRowName, callAdmin, newBearer, ROWS } from '../helpers/contract-calls.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { exchangeBytes, httpCall, jsonCall, readReply } from '../helpers/raw-http.ts';
import { expectCommonHeaders, expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const ADMIN_ROWS = Object.entries(adminContract) as [AdminRowName, Endpoint][];
let server: TestServer;
let bearer: { authorization: string };

beforeAll(async () => {
  server = await startTestServer();
});
beforeEach(() => {
  bearer = { authorization: `Bearer ${server.runtimeSecret}` };
});
afterAll(() => server.stop());

async function sessionCookieName(): Promise<string> {
  const code = new URL((await server.admin.createSignInCode({})).address).searchParams.get('code');
  const { headers } = await callAdmin(server, 'signIn', { code }, {});
  return headers.get('set-cookie')!.split('=')[0]!;
}

const admin = (path: string, headers: Record<string, string> = {}, method = 'GET', body?: string) =>
  jsonCall(`${server.adminOrigin}/admin/api${path}`, {
    method,
    headers,
    ...(body === undefined ? {} : { body }),
  });

describe('the two listeners', () => {
  it.each(ADMIN_ROWS)('the API does not serve %s to any caller', async (_name, row) => {
    for (const headers of [{}, bearer, await newBearer(server)]) {
      for (const url of [
        new URL(`/admin/api${row.path}`, server.api).href,
        `${server.api}/admin/api${row.path}`,
      ]) {
        expectFailure(await jsonCall(url, { method: row.method, headers }), 'not_found');
      }
    }
  });

  it.each(ROWS)('the back office knows nothing of the public %s', async (_name, row) => {
    const url = `${server.adminOrigin}/license/api/svc${row.path}`;
    expectFailure(await jsonCall(url, { method: row.method, headers: bearer }), 'not_found');
  });

  it('the API never answers as the back office, with any Host', async () => {
    const { host } = new URL(server.adminOrigin);
    expectFailure(
      await jsonCall(new URL('/admin/api/server-info/', server.api).href, { headers: { host, ...bearer } }),
      'not_found',
    );
    expectFailure(await jsonCall(new URL('/', server.api).href, { headers: { host } }), 'not_found');
  });

  it('the back office stays on loopback when the API is opened to the LAN', async () => {
    const open = await startTestServer({ flags: { host: '0.0.0.0' } });
    const elsewhere = (address: string) => {
      const url = new URL(address);
      url.hostname = '127.0.0.2';
      return url.href;
    };
    expect((await httpCall(elsewhere(`${open.api}/health/`))).status).toBe(200);
    await expect(httpCall(elsewhere(`${open.adminOrigin}/`))).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await open.stop();
  });
});

describe('who may call', () => {
  it.each(ADMIN_ROWS.filter(([, row]) => row.auth === 'admin'))(
    '%s needs a credential',
    async (rowName, row) => {
      const name = await sessionCookieName();
      const apiToken = await newBearer(server);
      const strangers = [
        {},
        apiToken,
        { authorization: 'Bearer nonsense' },
        { authorization: `Bearer ${server.runtimeSecret}x` },
        { authorization: `Basic ${server.runtimeSecret}` },
        { cookie: `${name}=${server.runtimeSecret}` },
        { cookie: `${name}=` },
        { cookie: name },
        { cookie: `constructor=1; __proto__=2; ${name}=nonsense` },
      ];
      for (const headers of strangers) {
        const reply = await callAdmin(server, rowName, {}, headers);
        expectFailure(reply, 'unauthorized');
        expect(reply.headers.get('www-authenticate')).toBe('Bearer');
        expectCommonHeaders(reply.headers);
      }
      // Not even what the request should look like.
      const body = row.method === 'GET' ? undefined : '{';
      expectFailure(
        await admin(row.path, { 'content-type': 'application/json' }, row.method, body),
        'unauthorized',
      );
    },
  );

  it('the holder of the runtime secret', async () => {
    const overview = await admin('/server-info/', bearer);
    expect(overview.body).toEqual({
      ok: true,
      api_base_url: server.api,
      default_product: 'my-product',
      version: expect.stringMatching(/^\d+\.\d+\.\d+/u) as string,
    });
  });

  it('answers with and without the trailing slash, and names its methods', async () => {
    for (const [, row] of ADMIN_ROWS) {
      for (const path of [row.path, row.path.slice(0, -1)]) {
        const reply = await admin(path, bearer, 'PATCH');
        expectFailure(reply, 'method_not_allowed');
        expect(reply.headers.get('allow')?.split(', ')).toContain(row.method);
      }
    }
  });

  it('survives a user name that cannot be decoded', async () => {
    const reply = await admin('/server-info/', { ...bearer, 'x-license-desk-user': '%zz' });
    expect([200, 400]).toContain(reply.status);
    expect((await admin('/server-info/', { 'x-license-desk-user': '%zz' })).status).toBe(401);
  });
});

describe('a request that was meant for another host (DNS rebinding)', () => {
  const port = () => new URL(server.adminOrigin).port;
  it.each([
    ['another name', () => `evil.example:${port()}`],
    ['a name that begins like ours', () => `localhost.evil.example:${port()}`],
    ['a name that ends like ours', () => `evil-localhost:${port()}`],
    ['an address that begins like ours', () => `127.0.0.1.nip.io:${port()}`],
    ['the LAN', () => `192.168.1.10:${port()}`],
    ['the wildcard', () => `0.0.0.0:${port()}`],
    ['credentials in front', () => `localhost@evil.example:${port()}`],
    ['a port only', () => `:${port()}`],
  ])('is refused: %s', async (_name, host) => {
    for (const path of ['/server-info/', '/session/', '/nothing/', '/../../']) {
      expectFailure(await admin(path, { ...bearer, host: host() }), 'forbidden');
    }
    expect((await httpCall(`${server.adminOrigin}/`, { headers: { host: host() } })).status).toBe(403);
  });

  it('is refused without a host', async () => {
    const bytes = `GET /admin/api/server-info/ HTTP/1.1\r\nHost:\r\nAuthorization: ${bearer.authorization}\r\nConnection: close\r\n\r\n`;
    expectFailure(readReply(await exchangeBytes(server.adminOrigin, bytes)), 'forbidden');
    const old = `GET /admin/api/server-info/ HTTP/1.0\r\nAuthorization: ${bearer.authorization}\r\n\r\n`;
    expectFailure(readReply(await exchangeBytes(server.adminOrigin, old)), 'forbidden');
  });

  it.each(['127.0.0.1', 'localhost', '[::1]'])('is none by the name of %s', async (name) => {
    expect((await admin('/server-info/', { ...bearer, host: `${name}:${port()}` })).status).toBe(200);
  });
});

describe('a request from another page', () => {
  it.each([
    'https://evil.example',
    'null',
    'http://localhost',
    'http://127.0.0.1:1',
    'https://127.0.0.1',
    'http://127.0.0.1.evil.example',
    'file://',
    '',
  ])('is refused by its Origin: "%s"', async (origin) => {
    expectFailure(await admin('/server-info/', { ...bearer, origin }), 'forbidden');
    expectFailure(await admin('/licenses/', { ...bearer, origin }, 'POST', '{}'), 'forbidden');
  });

  it('is accepted from the back office and from clients without a page', async () => {
    expect((await admin('/server-info/', { ...bearer, origin: server.adminOrigin })).status).toBe(200);
    expect((await admin('/server-info/', bearer)).status).toBe(200);
  });

  it('is refused by its Sec-Fetch headers, but a link may open the page', async () => {
    const site = { 'sec-fetch-site': 'cross-site' };
    expectFailure(await admin('/server-info/', { ...bearer, ...site }), 'forbidden');
    expectFailure(
      await admin('/server-info/', { ...bearer, ...site, 'sec-fetch-mode': 'navigate' }),
      'forbidden',
    );
    const link = { ...site, 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'document' };
    expect((await httpCall(`${server.adminOrigin}/`, { headers: link })).status).toBe(200);
    expect((await admin('/server-info/', { ...bearer, 'sec-fetch-site': 'same-origin' })).status).toBe(200);
  });

  it('gets no permission to read anything', async () => {
    const preflight = { origin: 'https://evil.example', 'access-control-request-method': 'POST' };
    const reply = await admin('/licenses/', preflight, 'OPTIONS');
    expectFailure(reply, 'forbidden');
    expect([...reply.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([]);
  });
});

describe('the page', () => {
  it('has a strict policy and a request ID, and cannot be framed', async () => {
    const reply = await httpCall(`${server.adminOrigin}/`);
    expect(reply.status).toBe(200);
    expect(reply.headers.get('content-type')).toMatch(/^text\/html/u);
    const policy = reply.headers.get('content-security-policy');
    for (const part of [
      "default-src 'none'",
      "script-src 'self'",
      "frame-ancestors 'none'",
      "base-uri 'none'",
    ]) {
      expect(policy).toContain(part);
    }
    expect(policy).not.toMatch(/unsafe|\*|http/u);
    expect(reply.headers.get('x-content-type-options')).toBe('nosniff');
    expect(reply.headers.get('referrer-policy')).toBe('no-referrer');
    expect(reply.headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(reply.headers.has('x-powered-by')).toBe(false);
    expect(reply.headers.get('x-request-id')).toEqual(expect.any(String));
  });

  it('lets browsers keep what has a name for its contents, and nothing else', async () => {
    const cachingOf = async (path: string) =>
      (await httpCall(server.adminOrigin + path)).headers.get('cache-control');
    const page = await httpCall(`${server.adminOrigin}/`);
    expect(page.headers.get('cache-control')).toBe('no-cache');
    const assets = [...page.text.matchAll(/(?:src|href)="\.(\/assets\/[^"]+)"/gu)].map(([, path]) => path!);
    expect(assets.length).toBeGreaterThan(5);
    const immutable = 'public, max-age=31536000, immutable';
    expect(new Set(await Promise.all(assets.map(cachingOf)))).toEqual(new Set([immutable]));
    expect(await cachingOf('/favicon.svg')).toBe('no-cache');
    expect(await cachingOf('/assets/nothing.js')).not.toBe(immutable);
  });

  it('contains only files of the page', async () => {
    for (const path of [
      '/..%2f..%2fpackage.json',
      '/%2e%2e/main/server.js',
      '/.env',
      '/assets/',
      '/assets',
      '/%00',
      '/%zz',
    ]) {
      const reply = await httpCall(server.adminOrigin + path);
      expect([path, reply.status >= 400 && reply.status < 500]).toEqual([path, true]);
      expectFailure({ status: reply.status, body: JSON.parse(reply.text) }, 'not_found');
    }
  });
});

describe('the data directory', () => {
  it('is readable by its owner only while a server runs, and names it', async () => {
    const dataDir = join(await keptDataDir(), 'made', 'by-the-server');
    const own = await startTestServer({ dataDir });
    expect(readRuntimeFile(dataDir)).toEqual({
      pid: process.pid,
      version: expect.any(String) as string,
      api: `${own.api}/`,
      admin: own.adminOrigin,
      secret: expect.stringMatching(/^[\w-]{43}$/u) as string,
    });
    const modes: Record<string, string> = {};
    for (const name of readdirSync(dataDir, { recursive: true, encoding: 'utf8' })) {
      const { mode } = statSync(join(dataDir, name));
      if ((mode & 0o077) !== 0) modes[name] = (mode & 0o777).toString(8);
    }
    expect(modes).toEqual({});
    for (const name of ['runtime.json', 'master.key'])
      expect(statSync(join(dataDir, name)).mode & 0o777).toBe(0o600);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);

    await own.stop();
    expect(existsSync(join(dataDir, 'runtime.json'))).toBe(false);
    const again = await startTestServer({ dataDir });
    expect(again.runtimeSecret).not.toBe(own.runtimeSecret);
    await again.stop();
  });
});
