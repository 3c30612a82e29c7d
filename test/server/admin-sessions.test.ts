import { hostname, userInfo } from 'node:os';
import { beforeEach, describe, expect, it } from 'vitest';
import { adminSuccess, callAdmin } from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const START = Date.UTC(2030, 0, 1);
const HOUR_MS = 3_600_000;
const clock = sharedClock(START);
const server = sharedServer({ clock });

beforeEach(() => server.admin.endOtherSessions({}));

const sessions = async () => (await adminSuccess(server, 'listSessions')).items;
const isIn = async (headers: Record<string, string>) =>
  (await callAdmin(server, 'serverInfo', {}, headers)).status === 200;
const audited = async (limit: number) =>
  (await adminSuccess(server, 'listAudit', { action: 'session.', limit })).items;

describe('the list of sessions', () => {
  it('shows who is signed in, since when and with which browser, latest sign-in first', async () => {
    await signedIn(server, 'Mozilla/5.0 (X11)');
    clock.advance(HOUR_MS);
    const mine = await signedIn(server, `Other/${'x'.repeat(400)}`);
    clock.advance(HOUR_MS);
    const { items } = (await callAdmin(server, 'listSessions', {}, mine)).body;
    const at = (hours: number) => new Date(START + hours * HOUR_MS).toISOString();
    expect(items).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/u) as string,
        signed_in_at: at(1),
        last_used_at: at(2),
        expires_at: at(13),
        user_agent: `Other/${'x'.repeat(294)}`,
        current: true,
      },
      {
        id: expect.stringMatching(/^[0-9a-f]{16}$/u) as string,
        signed_in_at: at(0),
        last_used_at: at(0),
        expires_at: at(12),
        user_agent: 'Mozilla/5.0 (X11)',
        current: false,
      },
    ]);
    expect((await sessions()).map(({ current }: { current: boolean }) => current)).toEqual([false, false]);
  });

  it('gives nothing away that signs in', async () => {
    const { cookie } = await signedIn(server);
    const [name, secret] = cookie.split('=') as [string, string];
    expect(JSON.stringify([await sessions(), await audited(10)])).not.toContain(secret);
    for (const { id } of await sessions()) expect(await isIn({ cookie: `${name}=${id}` })).toBe(false);
  });

  it('leaves out those that are over', async () => {
    const out = await signedIn(server);
    await callAdmin(server, 'signOut', {}, out);
    await signedIn(server);
    expect(await sessions()).toHaveLength(1);
    clock.advance(12 * HOUR_MS);
    expect(await sessions()).toEqual([]);
  });
});

describe('ending a session', () => {
  it('signs it out at once, and no other', async () => {
    const [one, two] = [await signedIn(server), await signedIn(server)];
    const [, { id }] = await sessions();
    expect(await adminSuccess(server, 'endSession', { id })).toEqual({ ok: true });
    expect([await isIn(one), await isIn(two)]).toEqual([false, true]);
    expectFailure(await callAdmin(server, 'endSession', { id }), 'not_found');
  });

  it('of one’s own session is allowed', async () => {
    const mine = await signedIn(server);
    const [{ id }] = await sessions();
    expect((await callAdmin(server, 'endSession', { id }, mine)).status).toBe(200);
    expect(await isIn(mine)).toBe(false);
  });

  it('requires a session ID', async () => {
    for (const id of ['', 'x', '0'.repeat(17), 5, null]) {
      expectFailure(await callAdmin(server, 'endSession', { id }), 'invalid_request');
    }
    expectFailure(await callAdmin(server, 'endSession', { id: '0'.repeat(16) }), 'not_found');
  });

  it('leaves it no sign-in link to come back with', async () => {
    const stolen = await signedIn(server);
    expectFailure(await callAdmin(server, 'createSignInCode', {}, stolen), 'forbidden');
  });

  it('of all others leaves the one that asks', async () => {
    const others = [await signedIn(server), await signedIn(server)];
    const mine = await signedIn(server);
    expect((await callAdmin(server, 'endOtherSessions', {}, mine)).body).toEqual({ ok: true, ended: 2 });
    expect(await Promise.all([...others, mine].map(isIn))).toEqual([false, false, true]);
    expect((await callAdmin(server, 'endOtherSessions', {}, mine)).body).toEqual({ ok: true, ended: 0 });
    expect(await adminSuccess(server, 'endOtherSessions')).toEqual({ ok: true, ended: 1 });
  });
});

describe('the audit log', () => {
  it('has every sign-in, sign-out and end', async () => {
    const name = userInfo().username;
    const first = await signedIn(server, 'First/1');
    const second = await signedIn(server, 'Second/1');
    const [{ id: secondId }, { id: firstId }] = await sessions();
    await callAdmin(server, 'endOtherSessions', {}, second);
    await callAdmin(server, 'signOut', {}, second);
    const session = (id: string, userAgent: string) => ({
      id,
      signed_in_at: new Date(START).toISOString(),
      expires_at: new Date(START + 12 * HOUR_MS).toISOString(),
      user_agent: userAgent,
    });
    expect(await audited(4)).toMatchObject([
      { action: 'session.signed_out', before: session(secondId, 'Second/1'), after: null, actor_name: name },
      { action: 'session.ended', subject: `session:${firstId}`, actor_kind: 'session', after: null },
      {
        action: 'session.signed_in',
        subject: `session:${secondId}`,
        after: { ...session(secondId, 'Second/1'), address: null, server: hostname() },
      },
      { action: 'session.signed_in', before: null, actor_kind: 'session', actor_name: name },
    ]);
    expect(await isIn(first)).toBe(false);
  });

  it('does not record a failed sign-in code', async () => {
    const [before] = await audited(1);
    expectFailure(await callAdmin(server, 'signIn', { code: 'nonsense' }, {}), 'unauthorized');
    expect(await audited(1)).toEqual([before]);
  });
});
