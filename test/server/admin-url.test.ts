// The back office behind a proxy at `admin_url`, as seen by the proxy and by attackers.
import { describe, expect, it, onTestFinished } from 'vitest';
import { callAdmin } from '../helpers/contract-calls.ts';
import { cliOn } from '../helpers/cli.ts';
import { freePort } from '../helpers/free-ports.ts';
import { listening } from '../helpers/live-client.ts';
import { exchangeBytes, httpCall, jsonCall, readReply } from '../helpers/raw-http.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const HOST = 'desk.example.com';
const ORIGIN = `https://${HOST}`;
const COOKIE = '__Host-license_desk_session_443';
const WRONG_HOSTS = [
  'evil.example',
  `${HOST}.`,
  `${HOST}.evil.example`,
  `evil.${HOST}`,
  `x${HOST}`,
  HOST.toUpperCase(),
  `${HOST}:8443`,
  `${HOST}:80`,
  `${HOST}:`,
  `${HOST}:443:443`,
  `u@${HOST}`,
  `${HOST}@evil.example`,
  `${HOST}, evil.example`,
  ORIGIN,
  '127.0.0.2',
  '0.0.0.0',
  'localhost.',
  '[::ffff:127.0.0.1]',
];

const server = sharedServer({ flags: { 'admin-url': ORIGIN, 'trust-proxy': 'on' } });
const url = (path: string) => `${server.adminOrigin}/admin/api${path}`;
const bearer = () => ({ authorization: `Bearer ${server.runtimeSecret}` });

async function codeOf({ admin }: TestServer): Promise<string> {
  return new URL((await admin.createSignInCode({})).address).searchParams.get('code')!;
}

/** @returns the cookie of a browser that has signed in through the proxy */
async function proxiedCookie(target: TestServer = server, host = HOST, origin = ORIGIN): Promise<string> {
  const reply = await jsonCall(`${target.adminOrigin}/admin/api/session/`, {
    method: 'POST',
    headers: { host, origin, 'content-type': 'application/json' },
    body: JSON.stringify({ code: await codeOf(target) }),
  });
  expect(reply.status).toBe(200);
  return reply.headers.get('set-cookie')!.split(';')[0]!;
}

function newPlan(headers: Record<string, string>) {
  const body = JSON.stringify({ name: `plan-${Math.random().toString(36).slice(2)}` });
  return jsonCall(url('/plans/'), {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body,
  });
}

describe('through the proxy', () => {
  it.each([HOST, `${HOST}:443`])('the Host %s reaches the page and its calls', async (host) => {
    const cookie = await proxiedCookie();
    const page = await httpCall(`${server.adminOrigin}/`, { headers: { host } });
    expect([page.status, page.headers.has('strict-transport-security')]).toEqual([200, false]);
    expect((await jsonCall(url('/server-info/'), { headers: { host, cookie } })).status).toBe(200);
    expect((await newPlan({ host, cookie, origin: ORIGIN })).status).toBe(200);
  });

  it('the cookie is for HTTPS and this host only', async () => {
    const headers = { host: HOST, origin: ORIGIN };
    const reply = await callAdmin(server, 'signIn', { code: await codeOf(server) }, {});
    expect(reply.headers.get('set-cookie')).not.toMatch(/__Host-|Secure/u);
    const cookie = await proxiedCookie();
    expect(cookie.split('=')[0]).toBe(COOKIE);
    const out = await jsonCall(url('/session/'), { method: 'DELETE', headers: { ...headers, cookie } });
    expect(out.headers.get('set-cookie')).toBe(
      `${COOKIE}=; Max-Age=0; Path=/; HttpOnly; SameSite=Strict; Secure`,
    );
    expectFailure(await jsonCall(url('/server-info/'), { headers: { ...headers, cookie } }), 'unauthorized');
  });

  it('a cookie without the prefix, which other hosts of the domain could set, does not count', async () => {
    const [, secret] = (await proxiedCookie()).split('=');
    for (const name of [
      'license_desk_session_443',
      `license_desk_session_${new URL(server.adminOrigin).port}`,
    ])
      expectFailure(
        await jsonCall(url('/server-info/'), { headers: { host: HOST, cookie: `${name}=${secret}` } }),
        'unauthorized',
      );
  });

  it('the credential of commands is refused, also beside a session', async () => {
    const cookie = await proxiedCookie();
    for (const headers of [bearer(), { ...bearer(), cookie }]) {
      const info = await jsonCall(url('/server-info/'), { headers: { host: HOST, ...headers } });
      expectFailure(info, 'unauthorized');
      expectFailure(await newPlan({ host: HOST, origin: ORIGIN, ...headers }), 'unauthorized');
    }
  });

  it('live updates are not held back by a buffer of nginx', async () => {
    const client = await listening(server, { host: HOST, cookie: await proxiedCookie() });
    expect(client.headers['x-accel-buffering']).toBe('no');
    await server.admin.createPlan({ name: 'live-through-proxy' });
    await client.changed('plans');
    await client.vanish();
  });
});

describe('on this machine, all is as before', () => {
  it('for commands and browsers', async () => {
    expect((await jsonCall(url('/server-info/'), { headers: bearer() })).status).toBe(200);
    const { cookie } = await signedIn(server);
    expect(cookie).toMatch(new RegExp(`^license_desk_session_${new URL(server.adminOrigin).port}=`, 'u'));
    expect((await newPlan({ cookie, origin: server.adminOrigin })).status).toBe(200);
    expectFailure(await newPlan({ cookie, origin: ORIGIN }), 'forbidden');
  });

  it('also if the URL is that of the listener itself', async () => {
    const port = String(await freePort());
    const flags = { 'admin-port': port, 'admin-url': `http://127.0.0.1:${port}` };
    const own = await startTestServer({ flags });
    onTestFinished(() => own.stop());
    await own.admin.createPlan({ name: 'own' });
    expect((await signedIn(own)).cookie).toMatch(/^license_desk_session_\d+=/u);
  });

  it('open prints both links with one code', async () => {
    const { address, proxied_address: proxied } = await server.admin.createSignInCode({});
    expect(new URL(address).origin).toBe(server.adminOrigin);
    expect(proxied).toBe(`${ORIGIN}/${new URL(address).search}`);
    const printed = await cliOn(server.dataDir).prints('open');
    expect(printed).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/\?code=(\S+)\nhttps:\/\/desk\.example\.com\/\?code=\1\n$/u,
    );
  });
});

describe('a request for another host', () => {
  it.each(WRONG_HOSTS)('is refused: "%s"', async (host) => {
    const cookie = await proxiedCookie();
    for (const origin of [{}, { origin: ORIGIN }, { origin: `https://${host}` }]) {
      const headers = { host, cookie, ...bearer(), ...origin };
      expectFailure(await jsonCall(url('/server-info/'), { headers }), 'forbidden');
      expectFailure(await newPlan(headers), 'forbidden');
    }
    expect((await httpCall(`${server.adminOrigin}/`, { headers: { host } })).status).toBe(403);
  });

  it('is refused when it hides behind a second Host or in the request target', async () => {
    const cookie = await proxiedCookie();
    const send = async (target: string, ...hosts: string[]) => {
      const lines = [`GET ${target} HTTP/1.1`, ...hosts.map((host) => `Host: ${host}`), `Cookie: ${cookie}`];
      const bytes = await exchangeBytes(
        server.adminOrigin,
        `${lines.join('\r\n')}\r\nConnection: close\r\n\r\n`,
      );
      return readReply(bytes);
    };
    const path = '/admin/api/server-info/';
    expect((await send(path, HOST)).status).toBe(200);
    expectFailure(await send(path, ''), 'forbidden');
    expectFailure(await send(path, HOST, 'evil.example'), 'invalid_request');
    expectFailure(await send(path, 'evil.example', HOST), 'invalid_request');
    expectFailure(await send(path, HOST, HOST), 'invalid_request');
    for (const authority of ['evil.example', `evil.example@${HOST}`, `${HOST}:8443`, `${HOST}.`])
      expectFailure(await send(`http://${authority}${path}`, HOST), 'forbidden');
    expectFailure(await send(`http://${HOST}${path}`, 'evil.example'), 'forbidden');
    expect((await send(`http://${HOST}${path}`, HOST)).status).toBe(200);
    expectFailure(await send(`//evil.example${path}`, HOST), 'not_found');
  });

  it('is refused for the host of the proxy without the setting', async () => {
    const plain = await startTestServer();
    onTestFinished(() => plain.stop());
    const headers = { host: HOST, authorization: `Bearer ${plain.runtimeSecret}` };
    const info = await jsonCall(`${plain.adminOrigin}/admin/api/server-info/`, { headers });
    expectFailure(info, 'forbidden');
    expect(await plain.admin.createSignInCode({})).toEqual({
      ok: true,
      address: expect.any(String) as string,
    });
  });
});

describe('a request from another page', () => {
  it.each([
    'https://evil.example',
    `http://${HOST}`,
    `https://${HOST}:443`,
    `https://${HOST}:8443`,
    `https://${HOST}.`,
    `https://${HOST}/`,
    `https://${HOST.toUpperCase()}`,
    `https://evil.${HOST}`,
    `https://${HOST}.evil.example`,
    'http://127.0.0.1',
    'null',
    '',
  ])('is refused by its Origin: "%s"', async (origin) => {
    const headers = { host: HOST, cookie: await proxiedCookie(), origin };
    expectFailure(await newPlan(headers), 'forbidden');
    expectFailure(await jsonCall(url('/server-info/'), { headers }), 'forbidden');
    const code = await codeOf(server);
    const body = JSON.stringify({ code });
    expectFailure(
      await jsonCall(url('/session/'), {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json' },
        body,
      }),
      'forbidden',
    );
    expect((await callAdmin(server, 'signIn', { code }, {})).status).toBe(200);
  });

  it('is refused without an Origin, unless it only reads', async () => {
    const headers = { host: HOST, cookie: await proxiedCookie() };
    expectFailure(await newPlan(headers), 'forbidden');
    for (const method of ['PUT', 'DELETE', 'PATCH', 'OPTIONS'])
      expectFailure(await jsonCall(url('/plans/'), { method, headers }), 'forbidden');
    expect((await jsonCall(url('/plans/'), { headers })).status).toBe(200);
  });

  it.each(['cross-site', 'same-site'])(
    'is refused from a %s page, but its links open the back office',
    async (site) => {
      const headers = { host: HOST, cookie: await proxiedCookie(), 'sec-fetch-site': site };
      expectFailure(await jsonCall(url('/server-info/'), { headers }), 'forbidden');
      expectFailure(await newPlan({ ...headers, origin: ORIGIN }), 'forbidden');
      const link = { ...headers, 'sec-fetch-mode': 'navigate' };
      expect((await httpCall(`${server.adminOrigin}/`, { headers: link })).status).toBe(200);
      expectFailure(await jsonCall(url('/server-info/'), { headers: link }), 'forbidden');
    },
  );
});

describe('a URL with a port', () => {
  it('names the cookie, and has to be in Host and Origin', async () => {
    const desk = await startTestServer({ flags: { 'admin-url': `${ORIGIN}:8443` } });
    onTestFinished(() => desk.stop());
    const [host, origin] = [`${HOST}:8443`, `${ORIGIN}:8443`];
    expect(await proxiedCookie(desk, host, origin)).toMatch(/^__Host-license_desk_session_8443=/u);
    for (const headers of [{ host: HOST }, { host: `${HOST}:443` }, { host, origin: ORIGIN }])
      expectFailure(await jsonCall(`${desk.adminOrigin}/admin/api/session/help/`, { headers }), 'forbidden');
  });
});
