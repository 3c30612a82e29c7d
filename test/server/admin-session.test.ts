import { describe, expect, it } from 'vitest';
import { createOwnSessions } from '#server/features/admin-session/own-sessions.ts';
import { createAdminSessionService } from '#server/features/admin-session/admin-session-service.ts';
import { directCall } from '#server/platform/call.ts';
import { adminSuccess, callAdmin } from '../helpers/contract-calls.ts';
import { httpCall, jsonCall } from '../helpers/raw-http.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import type { Reply } from '../helpers/test-server.ts';

const START = Date.UTC(2030, 0, 1);
const CODE_MS = 10 * 60_000;
const SESSION_MS = 12 * 3_600_000;
const clock = sharedClock(START);
const server = sharedServer({ clock });

async function newCode(): Promise<string> {
  const { address } = await adminSuccess(server, 'createSignInCode');
  const url = new URL(address as string);
  expect([url.origin, url.pathname, [...url.searchParams.keys()]]).toEqual([
    server.adminOrigin,
    '/',
    ['code'],
  ]);
  return url.searchParams.get('code')!;
}

const signIn = (code: unknown, headers: Record<string, string> = {}) =>
  callAdmin(server, 'signIn', { code }, headers);
const cookieOf = (reply: Reply) => reply.headers.get('set-cookie')!.split(';')[0]!;
const overview = (cookie: string) => callAdmin(server, 'serverInfo', {}, { cookie });

describe('a one-time code', () => {
  it('from the ready line signs in once', async () => {
    const code = new URL(server.signInAddress).searchParams.get('code');
    const reply = await signIn(code);
    expect(reply.body).toEqual({ ok: true, expires_at: new Date(START + SESSION_MS).toISOString() });
    expect((await overview(cookieOf(reply))).status).toBe(200);
    expectFailure(await signIn(code), 'unauthorized');
  });

  it('signs one in, of however many that try at once', async () => {
    const code = await newCode();
    const replies = await Promise.all(Array.from({ length: 20 }, () => signIn(code)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(replies.filter(({ headers }) => headers.has('set-cookie'))).toHaveLength(1);
  });

  it('is not used up by a sign-in that fails', async () => {
    const sessions = createAdminSessionService({
      clock,
      runtimeSecret: 'secret',
      audit: { record: async () => {} },
      transaction: (work) => work(),
      store: createOwnSessions({ read: () => [], write() {} }, clock),
      serverName: 'test',
      onEnded() {},
      onAuditFailed() {},
    });
    const code = await sessions.createCode();
    const call = directCall({ kind: 'public', name: 'sign-in' });
    const failing = {
      ...call,
      get userAgent(): string {
        throw new Error('cannot be read');
      },
    };
    await expect(sessions.signIn(code, failing)).rejects.toThrow('cannot be read');
    expect((await sessions.signIn(code, call)).secret).toEqual(expect.any(String));
  });

  it('is not used up by looking at the page, which link previews do', async () => {
    const code = await newCode();
    for (const method of ['GET', 'HEAD']) {
      const reply = await httpCall(`${server.adminOrigin}/?code=${code}`, { method });
      expect([reply.status, reply.headers.has('set-cookie')]).toEqual([200, false]);
    }
    expect((await signIn(code)).status).toBe(200);
  });

  it('is not used up by another page', async () => {
    const code = await newCode();
    expectFailure(await signIn(code, { origin: 'https://evil.example' }), 'forbidden');
    expect((await signIn(code, { origin: server.adminOrigin })).status).toBe(200);
  });

  it('lasts ten minutes', async () => {
    const [early, late] = [await newCode(), await newCode()];
    clock.advance(CODE_MS - 1);
    expect((await signIn(early)).status).toBe(200);
    clock.advance(1);
    expectFailure(await signIn(late), 'unauthorized');
    clock.set(START);
    expectFailure(await signIn(late), 'unauthorized');
  });

  it('that is invalid does not sign in', async () => {
    for (const code of ['', 'nonsense', 'constructor', server.runtimeSecret]) {
      const reply = await signIn(code);
      expectFailure(reply, 'unauthorized');
      expect(reply.headers.get('www-authenticate')).toBe('Bearer');
      expect(reply.headers.has('set-cookie')).toBe(false);
    }
    for (const code of [5, null, ['x'], 'x'.repeat(101)])
      expectFailure(await signIn(code), 'invalid_request');
    expectFailure(await callAdmin(server, 'signIn', {}, {}), 'invalid_request');
  });

  it('is created only by a signed-in administrator', async () => {
    expectFailure(await callAdmin(server, 'createSignInCode', {}, {}), 'unauthorized');
  });

  it('of many, the oldest give way', async () => {
    const first = await newCode();
    for (let time = 0; time < 200; time += 1) await newCode();
    expectFailure(await signIn(first), 'unauthorized');
    expect((await signIn(await newCode())).status).toBe(200);
  });
});

describe('the session cookie', () => {
  it('is for this host and for no script or other site', async () => {
    const reply = await signIn(await newCode());
    const [pair = '', ...attributes] = reply.headers.get('set-cookie')!.split('; ');
    expect(pair).toMatch(/^license_desk_session\w*=[\w-]{32,}$/u);
    expect(attributes.toSorted()).toEqual(['HttpOnly', 'Path=/', 'SameSite=Strict']);
    expect(JSON.stringify(reply.body)).not.toContain(pair.split('=')[1]);
  });

  it('lasts twelve hours', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    clock.advance(SESSION_MS - 1);
    expect((await overview(cookie)).status).toBe(200);
    clock.advance(1);
    expectFailure(await overview(cookie), 'unauthorized');
  });

  it('is found among others', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    expect((await overview(`a=b; ${cookie}; c="d=e"`)).status).toBe(200);
    expect((await overview(`a=b;${cookie}`)).status).toBe(200);
    expectFailure(await overview(`x${cookie}`), 'unauthorized');
  });

  // Pages of any port of the host can set cookies, and browsers send those for longer paths first (RFC 6265, 5.4).
  it('is found behind others of the same name, which pages on other ports can set', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    const [name] = cookie.split('=');
    expect((await overview(`${name}=forged; ${cookie}`)).status).toBe(200);
    expect((await overview(`${name}=; ${name}; ${name}="a=b"; ${cookie}; ${name}=forged`)).status).toBe(200);
    expectFailure(await overview(`${name}=forged; ${name}=forged-too`), 'unauthorized');
  });

  it('is ended by signing out, and no other is', async () => {
    const [mine, other] = [cookieOf(await signIn(await newCode())), cookieOf(await signIn(await newCode()))];
    const reply = await callAdmin(server, 'signOut', {}, { cookie: mine });
    expect(reply.body).toEqual({ ok: true });
    expect(reply.headers.get('set-cookie')).toMatch(/^license_desk_session\w*=;.*Max-Age=0/u);
    expectFailure(await overview(mine), 'unauthorized');
    expectFailure(await callAdmin(server, 'signOut', {}, { cookie: mine }), 'unauthorized');
    expect((await overview(other)).status).toBe(200);
  });

  it('may do all that the command line may, from our own page only', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    const create = (headers: Record<string, string>) =>
      callAdmin(server, 'createLicense', { holder: 'H' }, headers);
    expect((await create({ cookie, origin: server.adminOrigin })).status).toBe(200);
    expectFailure(await create({ cookie, origin: 'http://localhost:1' }), 'forbidden');
    const form = { cookie, origin: server.adminOrigin, 'content-type': 'application/x-www-form-urlencoded' };
    const url = `${server.adminOrigin}/admin/api/licenses/`;
    expectFailure(
      await jsonCall(url, { method: 'POST', headers: form, body: 'holder=H' }),
      'unsupported_media_type',
    );
  });

  it('means nothing to the API', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    expectFailure(await server.get('/plans/', { cookie }), 'unauthorized');
  });

  it('does not outrank a wrong bearer', async () => {
    const cookie = cookieOf(await signIn(await newCode()));
    expectFailure(
      await callAdmin(server, 'serverInfo', {}, { cookie, authorization: 'Bearer nonsense' }),
      'unauthorized',
    );
  });
});
