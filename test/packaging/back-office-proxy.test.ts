// One back office for all servers: nginx with the shipped configuration, TLS, and two servers on one PostgreSQL database.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { cliOn } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { hasNginx } from '../webhooks/nginx.ts';
import { ADMINISTRATOR, type BackOfficeProxy, DESK, startBackOfficeProxy } from './back-office-proxy.ts';

const masterKey = Buffer.alloc(32, 6).toString('base64');
const COOKIE = '__Host-license_desk_session_443';
const ROUNDS = 6;

describe.skipIf(!hasPostgres || !hasNginx())('one back office for two servers behind nginx', () => {
  let servers: [TestServer, TestServer];
  let proxy: BackOfficeProxy;

  const hostOf = (server: TestServer) => new URL(server.adminOrigin).host;
  /** nginx lists servers that it has tried before. */
  const servedBy = ({ headers }: { headers: Headers }) => headers.get('x-served-by')?.split(', ').at(-1);

  beforeAll(async () => {
    const flags = {
      'database-url': await newMigratedPostgresDatabase(),
      'admin-url': `https://${DESK}`,
      'trust-proxy': '127.0.0.1',
    };
    servers = [await startTestServer({ flags, masterKey }), await startTestServer({ flags, masterKey })];
    proxy = await startBackOfficeProxy(servers, false);
  });
  afterAll(async () => {
    for (const server of servers) await server.stop();
  });

  /** @returns the cookie */
  async function signIn(server: TestServer): Promise<string> {
    const { proxied_address: link = '' } = await server.admin.createSignInCode({});
    const code = new URL(link).searchParams.get('code');
    const reply = await proxy.call('/session/', { method: 'POST', body: { code } });
    expect(reply.status).toBe(200);
    return reply.headers.get('set-cookie')!.split(';')[0]!;
  }

  it('signs in with the link of either server, by a cookie for HTTPS that is the same on both', async () => {
    const answered = new Set<string | undefined>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const { proxied_address: link = '' } = await servers[round % 2]!.admin.createSignInCode({});
      expect(new URL(link).origin).toBe(`https://${DESK}`);
      const code = new URL(link).searchParams.get('code');
      const reply = await proxy.call('/session/', { method: 'POST', body: { code } });
      answered.add(servedBy(reply));
      const [pair, ...attributes] = reply.headers.get('set-cookie')!.split('; ');
      expect(pair?.split('=')[0]).toBe(COOKIE);
      expect(attributes.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict', 'Secure']);
      // The next server knows the session, and that the code is used up.
      expect((await proxy.call('/server-info/', { headers: { cookie: pair! } })).status).toBe(200);
      expectFailure(await proxy.call('/session/', { method: 'POST', body: { code } }), 'unauthorized');
    }
    expect(answered).toEqual(new Set(servers.map(hostOf)));
  });

  it('serves the page and its calls from both, and tells open pages what changes on either', async () => {
    const cookie = await signIn(servers[0]);
    const page = await proxy.open('/');
    expect(page.status).toBe(200);
    expect(page.headers.get('strict-transport-security')).toBe('max-age=31536000');
    expect(page.headers.get('content-security-policy')).toContain("connect-src 'self'");
    const [script = ''] = /\/assets\/[^"]+\.js/u.exec(page.text) ?? [];
    expect((await proxy.open(script)).headers.get('content-type')).toMatch(/javascript/u);

    // One after the other, so that nginx connects them to different servers.
    const streams = [await proxy.live(cookie), await proxy.live(cookie), await proxy.live(cookie)];
    const answered = new Set<string | undefined>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const list = await proxy.call('/licenses/', { headers: { cookie } });
      expect(list.status).toBe(200);
      const created = await proxy.call('/licenses/', {
        method: 'POST',
        headers: { cookie },
        body: { holder: `Holder ${round}` },
      });
      expect(created.status).toBe(200);
      answered.add(servedBy(list)).add(servedBy(created));
    }
    expect(answered).toEqual(new Set(servers.map(hostOf)));
    for (const stream of streams) await stream.changed('licenses');
    for (const stream of streams) await stream.vanish();
  });

  it('ends a session on both, and its live streams', async () => {
    const cookie = await signIn(servers[1]);
    const streams = [await proxy.live(cookie), await proxy.live(cookie), await proxy.live(cookie)];
    const out = await proxy.call('/session/', { method: 'DELETE', headers: { cookie } });
    expect(out.headers.get('set-cookie')).toBe(
      `${COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    const answered = new Set<string | undefined>();
    for (let round = 0; round < ROUNDS; round += 1) {
      const reply = await proxy.call('/server-info/', { headers: { cookie } });
      expectFailure(reply, 'unauthorized');
      answered.add(servedBy(reply));
    }
    expect(answered).toEqual(new Set(servers.map(hostOf)));
    for (const stream of streams)
      expect((await stream.rest()).at(-1)).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
  });

  it('refuses other pages and the credential of commands', async () => {
    const cookie = await signIn(servers[0]);
    const create = (headers: Record<string, string>) =>
      proxy.call('/licenses/', { method: 'POST', headers: { cookie, ...headers }, body: { holder: 'Evil' } });
    for (const origin of [
      'https://evil.example',
      `http://${DESK}`,
      `https://${DESK}:8443`,
      servers[0].adminOrigin,
      'null',
    ])
      expectFailure(await create({ origin }), 'forbidden');
    for (const server of servers) {
      const authorization = `Bearer ${server.runtimeSecret}`;
      for (let round = 0; round < 2; round += 1)
        expectFailure(await proxy.call('/server-info/', { headers: { authorization } }), 'unauthorized');
    }
    expect((await create({})).status).toBe(200);
  });

  it('logs the address of the administrator', async () => {
    const cookie = await signIn(servers[0]);
    const forged = { cookie, 'x-forwarded-for': '192.0.2.66', 'x-request-id': 'forged' };
    expect((await proxy.call('/server-info/', { headers: forged })).status).toBe(200);
    const logOf = ({ dataDir }: TestServer, name: string) =>
      readFileSync(join(dataDir, 'logs', `${name}.1.log`), 'utf8');
    await eventually(() => {
      const log = servers.map((server) => logOf(server, 'license-desk')).join('');
      const line = log.split('\n').find((one) => one.includes('"request_id":"forged"')) ?? '';
      expect(line).toContain(`"address":"${ADMINISTRATOR}"`);
      expect(log).not.toContain('192.0.2.66');
    });
    const security = servers.map((server) => logOf(server, 'security')).join('');
    expect(security).toMatch(new RegExp(`"session.signed_in".*"address":"${ADMINISTRATOR}"`, 'u'));
    expect(security).toMatch(new RegExp(`"credential.refused".*"address":"${ADMINISTRATOR}"`, 'u'));
  });

  it('prints both links, and commands keep using loopback', async () => {
    const cli = cliOn(servers[0].dataDir);
    const [local, proxied] = (await cli.prints('open')).trim().split('\n');
    expect(new URL(local!).origin).toBe(servers[0].adminOrigin);
    expect(proxied).toBe(`https://${DESK}/${new URL(local!).search}`);
    const reply = await cli.ok<{ address: string; proxied_address: string }>('open');
    expect(Object.keys(reply)).toEqual(['ok', 'address', 'proxied_address']);
  });

  it('keeps an administrator on one server as it is shipped, and admits no one else', async () => {
    const shipped = await startBackOfficeProxy(servers, true);
    const replies = await Promise.all(Array.from({ length: ROUNDS }, () => shipped.open('/')));
    expect(replies.map(({ status }) => status)).toEqual(replies.map(() => 200));
    expect(new Set(replies.map(servedBy)).size).toBe(1);
    const refused = await shipped.stranger('/');
    expect(refused.status).toBe(403);
    expect(refused.text).toContain('nginx');
  });
});
