import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newLicense,
  publicFields,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const post = (license: { license_key: string }, machine_fingerprint: string, fields: object = {}) =>
  server.post('/activate/', { license_key: license.license_key, machine_fingerprint, ...fields });

async function eventsOf(licenseId: number, name = 'license.activated'): Promise<unknown[]> {
  return selectRows(
    server.dataDir,
    `SELECT id FROM events WHERE license_id = ${licenseId} AND name = '${name}'`,
  );
}

async function planWithSeats(max_activations: number | null): Promise<string> {
  const name = unique('seats');
  await server.admin.createPlan({ name, max_activations, grace_days: 10 });
  return name;
}

describe('an activation', () => {
  it('gives the license, the activation and a license file', async () => {
    const license = await newLicense(server, { plan: 'professional' });
    const machine_fingerprint = newFingerprint();
    const body = await success(server, 'activate', {
      license_key: license.license_key,
      machine_fingerprint,
      product_slug: 'my-product',
      machine_name: 'Lab 1 – Südflügel',
      platform: 'linux-x64',
      app_version: '4.2.0-rc.1',
    });
    expect(body).toEqual({
      ok: true,
      license: { ...publicFields(license), state: 'active', activation_count: 1, machine_fingerprint },
      activation: {
        id: expect.any(Number) as number,
        machine_fingerprint,
        machine_name: 'Lab 1 – Südflügel',
        activated_at: at(START),
      },
      license_file: expect.stringMatching(
        /^-----BEGIN LICENSE FILE-----\n[\s\S]+\n-----END LICENSE FILE-----\n$/u,
      ) as string,
    });
    const { items } = await adminSuccess(server, 'listDevices', { ref: license.license_key });
    expect(items).toEqual([
      {
        ...body.activation,
        platform: 'linux-x64',
        app_version: '4.2.0-rc.1',
        released_at: null,
        last_seen_at: at(START),
        replaces_device_id: null,
      },
    ]);
  });

  it('of the same device again is the same: no seat, no event, no change', async () => {
    const license = await newLicense(server);
    const device = newFingerprint();
    const first = await post(license, device, { machine_name: 'first' });
    clock.advance(DAY_MS);
    const again = await post(license, device, { machine_name: 'second' });
    expect(again.body.activation).toEqual(first.body.activation);
    expect(again.body.license).toEqual(first.body.license);
    expect(await eventsOf(license.license_id)).toHaveLength(1);
    const { items } = await server.admin.listAudit({ subject: `license:${license.license_id}` });
    expect(items.filter(({ action }) => action === 'device.activated')).toHaveLength(1);
  });

  it('is about the device that asks, the license elsewhere about the newest', async () => {
    const license = await newLicense(server, { plan: 'professional' });
    const [older, newer] = [newFingerprint(), newFingerprint()];
    await post(license, older);
    await post(license, newer);
    expect((await post(license, older)).body.license).toMatchObject({
      machine_fingerprint: older,
      activation_count: 2,
    });
    const show = async () =>
      (await server.admin.showLicense({ ref: license.license_key })).license.machine_fingerprint;
    expect(await show()).toBe(newer);
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint: newer });
    expect(await show()).toBe(older);
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint: older });
    expect(await show()).toBeNull();
  });

  it.each([
    ['lower case', (key: string) => key.toLowerCase()],
    ['no hyphens', (key: string) => key.replaceAll('-', '')],
    ['spaces', (key: string) => ` ${key.replaceAll('-', '  ')}\t`],
    ['dashes as word processors write them', (key: string) => key.replaceAll('-', '–')],
  ])('takes a key in %s', async (_name, spell) => {
    const license = await newLicense(server);
    const reply = await post({ license_key: spell(license.license_key) }, newFingerprint());
    expect([reply.status, reply.body.license?.license_key]).toEqual([200, license.license_key]);
  });

  it.each([
    ['a typo', `${UNKNOWN_KEY.slice(0, -1)}0`],
    ['two neighbours swapped', UNKNOWN_KEY.replace('01', '10')],
    ['too short', UNKNOWN_KEY.slice(0, 23)],
    ['too long', `${UNKNOWN_KEY}-00000`],
    ['nothing', ''],
    ['a NUL', '\u0000'],
    ['half a surrogate pair', '\ud800'],
    ['endless', 'A'.repeat(10_000)],
  ])('tells a mistyped key: %s', async (_name, license_key) => {
    const reply = await post({ license_key }, newFingerprint());
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details[0].path).toBe('license_key');
  });

  it('reports an unknown key', async () => {
    expectFailure(await post({ license_key: UNKNOWN_KEY }, newFingerprint()), 'license_not_found');
  });

  it.each([
    '',
    'sha256:',
    `sha256:${'a'.repeat(63)}`,
    `sha256:${'a'.repeat(65)}`,
    `sha256:${'g'.repeat(64)}`,
    'a'.repeat(64),
  ])('takes no fingerprint "%s"', async (fingerprint) =>
    expectFailure(await post(await newLicense(server), fingerprint), 'invalid_request'),
  );

  it('needs a key and a fingerprint', async () => {
    const { license_key } = await newLicense(server);
    expectFailure(await server.post('/activate/', { license_key }), 'invalid_request');
    const reply = await server.post('/activate/', {});
    expect(reply.body.details.map(({ path }: { path: string }) => path)).toEqual([
      'license_key',
      'machine_fingerprint',
    ]);
  });
});

describe('the hex digits of a fingerprint', () => {
  const upper = (fingerprint: string) => `sha256:${fingerprint.slice('sha256:'.length).toUpperCase()}`;

  it('are read in either case and stored in lower case', async () => {
    const license = await newLicense(server);
    const fingerprint = `sha256:${'ab'.repeat(32)}`;
    const { activation, license_file } = await success(server, 'activate', {
      license_key: license.license_key,
      machine_fingerprint: upper(fingerprint),
    });
    expect(activation).toMatchObject({ machine_fingerprint: fingerprint });
    expect((await post(license, fingerprint)).body.activation).toEqual(activation);
    const given = { license_key: license.license_key, machine_fingerprint: upper(fingerprint) };
    expect(await success(server, 'authorize', given)).toMatchObject({ authorized: true });
    const file = { license_file, machine_fingerprint: upper(fingerprint) };
    expect(await success(server, 'validateOffline', file)).toMatchObject({ valid: true });
  });

  it('of an encrypted file can be in either case, too', async () => {
    const { license_key } = await newLicense(server);
    const device = { license_key, machine_fingerprint: upper(`sha256:${'cd'.repeat(32)}`) };
    const { license_file } = await success(server, 'activate', { ...device, encrypt: true });
    const lower = device.machine_fingerprint.toLowerCase();
    for (const machine_fingerprint of [device.machine_fingerprint, lower])
      expect(
        await success(server, 'validateOffline', { ...device, license_file, machine_fingerprint }),
      ).toMatchObject({ valid: true });
  });
});

describe('an activation is refused', () => {
  it('for another product', async () => {
    const license = await newLicense(server, { product: 'imager' });
    expectFailure(await post(license, newFingerprint(), { product_slug: 'carver' }), 'product_mismatch');
    expect((await post(license, newFingerprint(), { product_slug: 'imager' })).status).toBe(200);
    expect((await post(await newLicense(server, { product: 'imager' }), newFingerprint())).status).toBe(200);
  });

  it('for a revoked license, even to a device that it has', async () => {
    const license = await newLicense(server);
    const device = newFingerprint();
    await post(license, device);
    await server.admin.revokeLicense({ ref: license.license_key });
    expectFailure(await post(license, device), 'license_revoked', 403);
    expectFailure(await post(license, newFingerprint()), 'license_revoked', 403);
  });

  it('from the end of grace on, not before', async () => {
    const license = await newLicense(server, { plan: await planWithSeats(9) });
    const device = newFingerprint();
    const graceEnd = Date.parse(license.grace_ends_at);
    clock.set(Date.parse(license.expires_at));
    expect((await post(license, device)).body.license.state).toBe('in_grace');
    clock.set(graceEnd - 1);
    expect((await post(license, newFingerprint())).status).toBe(200);
    clock.set(graceEnd);
    expectFailure(await post(license, device), 'license_expired');
    expectFailure(await post(license, newFingerprint()), 'license_expired');
  });

  it('beyond the last seat, until one is released', async () => {
    const license = await newLicense(server, { plan: await planWithSeats(2) });
    const [a, b, c] = [newFingerprint(), newFingerprint(), newFingerprint()];
    await post(license, a);
    await post(license, b);
    expectFailure(await post(license, c), 'activation_limit_reached');
    expect((await post(license, a)).status).toBe(200);
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint: a });
    expect((await post(license, c)).status).toBe(200);
    expectFailure(await post(license, a), 'activation_limit_reached');
  });

  it('beyond a limit that was lowered, though not to devices that are in', async () => {
    const plan = await planWithSeats(3);
    const license = await newLicense(server, { plan });
    const device = newFingerprint();
    await post(license, device);
    await post(license, newFingerprint());
    await server.admin.updatePlan({ name: plan, max_activations: 1 });
    expect((await post(license, device)).body.license).toMatchObject({
      max_activations: 1,
      activation_count: 2,
    });
    expectFailure(await post(license, newFingerprint()), 'activation_limit_reached');
    await server.admin.updatePlan({ name: plan, max_activations: null });
    expect((await post(license, newFingerprint())).body.license).toMatchObject({ max_activations: null });
  });
});

describe('parallel activations', () => {
  it('for one seat: exactly one wins', async () => {
    const license = await newLicense(server);
    const replies = await Promise.all(Array.from({ length: 30 }, () => post(license, newFingerprint())));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies) if (reply.status !== 200) expectFailure(reply, 'activation_limit_reached');
    expect(await eventsOf(license.license_id)).toHaveLength(1);
    expect((await server.admin.showLicense({ ref: license.license_key })).license.activation_count).toBe(1);
  });

  it('of one device: all get the same activation', async () => {
    const license = await newLicense(server, { plan: 'professional' });
    const device = newFingerprint();
    const replies = await Promise.all(Array.from({ length: 20 }, () => post(license, device)));
    expect(new Set(replies.map((reply) => reply.body.activation?.id)).size).toBe(1);
    expect(await eventsOf(license.license_id)).toHaveLength(1);
    expect((await server.admin.showLicense({ ref: license.license_key })).license.activation_count).toBe(1);
  });

  it('without a limit: all win', async () => {
    const license = await newLicense(server, { plan: 'enterprise' });
    await Promise.all(Array.from({ length: 25 }, () => activateDevice(server, license)));
    const { license: shown } = await server.admin.showLicense({ ref: license.license_key });
    expect(shown).toMatchObject({ activation_count: 25, max_activations: null });
  });
});

describe('a released device', () => {
  it('can be activated again, with a new event', async () => {
    const license = await newLicense(server);
    const ref = license.license_key;
    const machine_fingerprint = newFingerprint();
    const first = await post(license, machine_fingerprint);
    clock.advance(DAY_MS);
    const { device } = await adminSuccess(server, 'releaseDevice', { ref, machine_fingerprint });
    expect(device).toMatchObject({ id: first.body.activation.id, released_at: at(START + DAY_MS) });
    expectFailure(await callAdmin(server, 'releaseDevice', { ref, machine_fingerprint }), 'device_not_found');
    const second = await post(license, machine_fingerprint);
    expect(second.body.activation.id).not.toBe(first.body.activation.id);
    expect(await eventsOf(license.license_id)).toHaveLength(2);
    const { items } = await adminSuccess(server, 'listDevices', { ref });
    expect(items.map((item: { released_at: string | null }) => item.released_at)).toEqual([
      null,
      at(START + DAY_MS),
    ]);
  });

  it('must have been one', async () => {
    const { license_key: ref } = await newLicense(server);
    const machine_fingerprint = newFingerprint();
    expectFailure(await callAdmin(server, 'releaseDevice', { ref, machine_fingerprint }), 'device_not_found');
    expectFailure(
      await callAdmin(server, 'releaseDevice', { ref: UNKNOWN_KEY, machine_fingerprint }),
      'license_not_found',
    );
    expectFailure(await callAdmin(server, 'listDevices', { ref: UNKNOWN_KEY }), 'license_not_found');
  });

  it('may be released by a clock that was set back', async () => {
    const license = await newLicense(server);
    const machine_fingerprint = newFingerprint();
    await post(license, machine_fingerprint);
    clock.advance(-DAY_MS);
    const { device } = await adminSuccess(server, 'releaseDevice', {
      ref: license.license_key,
      machine_fingerprint,
    });
    expect(device.released_at).toBe(device.activated_at);
  });
});

it('the state stays active once a license was activated, and is issued before', async () => {
  const license = await newLicense(server);
  const show = async () => (await server.admin.showLicense({ ref: license.license_key })).license;
  expect(await show()).toMatchObject({ state: 'issued', first_activated_at: null });
  const machine_fingerprint = newFingerprint();
  await post(license, machine_fingerprint);
  clock.advance(DAY_MS);
  await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint });
  expect(await show()).toMatchObject({ state: 'active', first_activated_at: at(START), activation_count: 0 });
});
