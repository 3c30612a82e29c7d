import { userInfo } from 'node:os';
import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newBearer,
  newFingerprint,
  newLicense,
  unique,
} from '../helpers/contract-calls.ts';
import { dumpDatabase } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const START = Date.UTC(2035, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });

/** Newest first, those about one subject if it is given. */
const entries = async (input: object = {}) =>
  (await adminSuccess(server, 'listAudit', { limit: 500, ...input })).items;
const newest = async () => (await entries({ limit: 1 }))[0];
const CLI = { actor_kind: 'cli', actor_name: 'tester', at: new Date(START).toISOString() };

describe('an audit entry says who did what, and what it was before and after:', () => {
  it('a license, from its issue to its end', async () => {
    const name = unique('Partner');
    const { api_token } = await server.admin.createApiToken({ name, role: 'integrator' });
    const partner = { actor_kind: 'api_token', actor_name: name };
    const headers = { authorization: `Bearer ${api_token}`, 'x-request-id': 'audit-1' };
    const license = await newLicense(server);
    const { license_id } = license;
    const renewed = (await server.post('/renew/', { license_id, days: 1 }, headers)).body.license;
    await server.post('/upgrade/', { license_id, plan: 'enterprise' }, headers);
    await server.admin.revokeLicense({ ref: String(license_id), reason: 'why not' });

    const subject = `license:${license_id}`;
    const [revoked, upgraded, renewal, created] = await entries({ subject });
    expect(created).toMatchObject({
      ...CLI,
      action: 'license.created',
      subject,
      before: null,
      after: license,
    });
    expect(renewal).toMatchObject({
      ...partner,
      action: 'license.renewed',
      request_id: 'audit-1',
      before: license,
      after: renewed,
    });
    expect(upgraded).toMatchObject({
      ...partner,
      action: 'license.upgraded',
      before: { plan: 'standard', max_activations: 1 },
      after: { plan: 'enterprise', max_activations: null, expires_at: renewed.expires_at as string },
    });
    expect(revoked).toMatchObject({
      ...CLI,
      action: 'license.revoked',
      before: { state: 'issued', revoked_at: null },
      after: { state: 'revoked', revoke_reason: 'why not' },
    });
  });

  it('a device', async () => {
    const license = await newLicense(server);
    const { activation } = await activateDevice(server, license, { machine_name: 'Lab 1' });
    await server.admin.releaseDevice({
      ref: license.license_key,
      machine_fingerprint: activation.machine_fingerprint,
    });
    const [released, activated] = await entries({ subject: `license:${license.license_id}` });
    const device = { ...activation, platform: null, app_version: null, released_at: null };
    expect(activated).toMatchObject({
      actor_kind: 'public',
      action: 'device.activated',
      before: null,
      after: device,
    });
    expect(released).toMatchObject({
      ...CLI,
      action: 'device.released',
      before: device,
      after: { released_at: CLI.at },
    });
  });

  it('an authorization token', async () => {
    const { license_key } = await newLicense(server);
    const first = await server.admin.issueToken({ license: license_key, name: 'one' });
    const second = await server.admin.issueToken({ license: license_key, name: 'two' });
    await server.admin.revokeToken({ id: second.authorization_token.id });
    const [revoked, issued] = await entries({ subject: `token:${second.authorization_token.id}` });
    expect(issued).toMatchObject({
      ...CLI,
      action: 'token.issued',
      before: { id: first.authorization_token.id, state: 'replaced' },
      after: second.authorization_token,
    });
    expect(revoked).toMatchObject({
      action: 'token.revoked',
      before: { state: 'active' },
      after: { state: 'revoked' },
    });
  });

  it('a plan', async () => {
    const headers = await newBearer(server);
    const name = unique('audited');
    const { plan } = (await server.post('/plans/', { name }, headers)).body;
    await server.call('PUT', '/plans/', { id: plan.id, tier: 7 }, headers);
    await server.call('DELETE', `/plans/?id=${plan.id}`, undefined, headers);
    const [deleted, updated, created] = await entries({ subject: `plan:${plan.id}` });
    expect(created).toMatchObject({
      actor_kind: 'api_token',
      action: 'plan.created',
      before: null,
      after: plan,
    });
    expect(updated).toMatchObject({ action: 'plan.updated', before: plan, after: { ...plan, tier: 7 } });
    expect(deleted).toMatchObject({ action: 'plan.deleted', before: { ...plan, tier: 7 }, after: null });
  });

  it('an API token', async () => {
    const { token } = await server.admin.createApiToken({ name: 'audited', role: 'admin' });
    const { token: revoked } = await server.admin.revokeApiToken({ id: token.id });
    const [second, first] = await entries({ subject: `api_token:${token.id}` });
    expect(first).toMatchObject({ ...CLI, action: 'api_token.created', before: null, after: token });
    expect(second).toMatchObject({ ...CLI, action: 'api_token.revoked', before: token, after: revoked });
  });

  it('an administrator in the back office, by the name of the OS user', async () => {
    const code = new URL((await server.admin.createSignInCode({})).address).searchParams.get('code');
    const signIn = await callAdmin(server, 'signIn', { code: code! }, {});
    const cookie = signIn.headers.get('set-cookie')!.split(';')[0]!;
    await callAdmin(server, 'createLicense', { holder: 'by hand' }, { cookie });
    expect(await newest()).toMatchObject({
      actor_kind: 'session',
      actor_name: userInfo().username,
      actor_claimed: false,
    });
  });

  it.each([
    ['root', 'root'],
    [encodeURIComponent('Jiří Novák'), 'Jiří Novák'],
    ['', 'unknown'],
    [encodeURIComponent('a\nb'), 'unknown'],
    [encodeURIComponent('ro\u200Bot'), 'unknown'],
    ['x'.repeat(65), 'unknown'],
  ])('somebody at the command line who is called "%s"', async (header, name) => {
    const headers = { authorization: `Bearer ${server.runtimeSecret}`, 'x-license-desk-user': header };
    await callAdmin(server, 'createLicense', { holder: 'by CLI' }, headers);
    expect(await newest()).toMatchObject({ actor_kind: 'cli', actor_name: name, actor_claimed: true });
  });

  it('a command that claims another name, as a claim', async () => {
    const name = userInfo().username;
    const { api_token } = await server.admin.createApiToken({ name, role: 'admin' });
    await server.post('/plans/', { name: 'by-token' }, { authorization: `Bearer ${api_token}` });
    const headers = { authorization: `Bearer ${server.runtimeSecret}`, 'x-license-desk-user': name };
    const { body } = await callAdmin(server, 'createLicense', { holder: 'by CLI' }, headers);
    const [byCli, byToken] = await entries({ actor: name });
    expect(byToken).toMatchObject({ actor_kind: 'api_token', actor_name: name, actor_claimed: false });
    expect(byCli).toMatchObject({ actor_kind: 'cli', actor_name: name, actor_claimed: true });
    const timeline = await adminSuccess(server, 'licenseTimeline', { license: body.license.license_key });
    expect(timeline.items).toMatchObject([
      { name: 'license.created', actor_name: name, actor_claimed: true },
    ]);
  });
});

describe('no audit entry', () => {
  it('comes of reading, of failures, or of what was so already', async () => {
    const license = await newLicense(server);
    const ref = license.license_key;
    const machine_fingerprint = newFingerprint();
    await server.post('/activate/', { license_key: ref, machine_fingerprint });
    const issued = await server.admin.issueToken({ license: ref });
    await server.admin.revokeToken({ id: issued.authorization_token.id });
    await server.admin.revokeLicense({ ref });
    const before = await dumpDatabase(server.dataDir);

    await server.admin.revokeToken({ id: issued.authorization_token.id });
    await server.admin.revokeLicense({ ref, reason: 'again' });
    await server.admin.listLicenses({});
    await server.admin.listDevices({ ref });
    await server.post('/authorize/', { license_key: ref });
    expectFailure(
      await server.post('/activate/', { license_key: ref, machine_fingerprint }),
      'license_revoked',
      403,
    );
    expectFailure(await callAdmin(server, 'createLicense', { holder: '' }), 'invalid_request');
    expectFailure(await callAdmin(server, 'createPlan', { name: 'trial' }), 'plan_exists');
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });
});

describe('the audit log', () => {
  it('contains no secret', async () => {
    const { license_key } = await newLicense(server);
    const { token } = await server.admin.issueToken({ license: license_key });
    const { api_token } = await server.admin.createApiToken({ name: 'secret', role: 'admin' });
    const everything = JSON.stringify(await entries());
    for (const secret of [token, api_token, server.runtimeSecret])
      expect(everything).not.toContain(secret.slice(4, 40));
  });

  it('comes in pages, newest first', async () => {
    const subject = `license:${(await newLicense(server)).license_id}`;
    for (let time = 0; time < 4; time += 1)
      await server.admin.renewLicense({ ref: subject.slice(8), days: 1 });
    const first = await adminSuccess(server, 'listAudit', { subject, limit: 3 });
    const second = await adminSuccess(server, 'listAudit', { subject, limit: 3, cursor: first.next_cursor });
    const ids = [...first.items, ...second.items].map(({ id }: { id: number }) => id);
    expect(ids).toHaveLength(5);
    expect(ids).toEqual(ids.toSorted((a, b) => b - a));
    expect(second.next_cursor).toBeNull();
    for (const input of [{ limit: 0 }, { limit: 501 }, { cursor: 'x' }]) {
      expectFailure(await callAdmin(server, 'listAudit', input), 'invalid_request');
    }
  });

  it('is shown one by one', async () => {
    const subject = `license:${(await newLicense(server)).license_id}`;
    const [entry] = (await adminSuccess(server, 'listAudit', { subject })).items;
    expect((await adminSuccess(server, 'showAuditEntry', { id: entry.id })).entry).toEqual(entry);
    expectFailure(await callAdmin(server, 'showAuditEntry', { id: 999_999 }), 'not_found');
    for (const id of [0, -1, 1.5, 'x'])
      expectFailure(await callAdmin(server, 'showAuditEntry', { id }), 'invalid_request');
  });
});
