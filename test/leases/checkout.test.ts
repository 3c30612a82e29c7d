import { describe, expect, it } from 'vitest';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import {
  activateDevice,
  newFingerprint,
  newFloatingLicense,
  newInstanceId,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { almost, checkOut, heartbeat, lease, queued, release, seatsOf } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();

describe('a checkout', () => {
  it('takes a seat, and says what is left', async () => {
    const license = await newFloatingLicense(server, { seats: 3, features: ['reports'] });
    const { license_key, license_id } = license;
    const instance_id = newInstanceId();
    const reply = await success(server, 'checkoutLease', {
      license_key,
      instance_id,
      product_slug: 'my-product',
      feature: 'reports',
      user: 'Ada',
      host: 'workstation-7',
      units: 2,
    });
    expect(reply).toMatchObject({
      lease: {
        state: 'active',
        units: 2,
        license_id,
        product_slug: 'my-product',
        feature: 'reports',
        expires_in: almost(600),
        heartbeat_seconds: 200,
        overdraft: false,
        counted_as: `process:${instance_id}`,
      },
      lease_token: expect.stringMatching(/^lds_[\w-]{43}$/u) as string,
      pool: { total: 3, in_use: 2, available: 1, reserved: 0, borrowed: 0, overdraft: 0, queued: 0 },
    });
    const { lease: taken } = reply as { lease: { issued_at: string; expires_at: string } };
    expect(Date.parse(taken.expires_at) - Date.parse(taken.issued_at)).toBeGreaterThanOrEqual(599_000);
  });

  it('makes the license active, also in its own lease file', async () => {
    const license = await newFloatingLicense(server);
    expect(license).toMatchObject({
      state: 'issued',
      licensing: 'floating',
      seats: 2,
      max_activations: null,
    });
    const { lease_file } = await lease(server, license);
    const keys = parsePublicKeys((await server.get('/public-key/')).body.public_key_pem as string);
    const options = { keys, kind: 'lease' as const, now: Date.now() };
    const file = await verifyLicenseFile(lease_file, options);
    expect(file.license).toMatchObject({ state: 'active' });
    expect((await server.admin.showLicense({ ref: license.license_key })).license.state).toBe('active');
  });

  it('stores no token', async () => {
    const license = await newFloatingLicense(server);
    const { lease_token } = await lease(server, license);
    const rows = await selectRows(
      server.dataDir,
      `SELECT * FROM leases WHERE license_id = ${license.license_id}`,
    );
    expect(rows).toHaveLength(1);
    expect(JSON.stringify(rows)).not.toContain(lease_token);
  });

  it('is refused when no seat is free, with the pool and the next end', async () => {
    const license = await newFloatingLicense(server, { seats: 1, lease_seconds: 120 });
    await lease(server, license);
    const { status, body } = await checkOut(server, license);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      ok: false,
      error_code: 'no_seat_available',
      details: { pool: { total: 1, in_use: 1, available: 0 }, next_expiry_in: almost(120) },
    });
  });

  it('succeeds again after a release, which can be repeated', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    const { lease_token } = await lease(server, license);
    for (const _ of [1, 2])
      expect(await release(server, lease_token)).toMatchObject({ status: 200, body: { released: true } });
    expect((await lease(server, license)).pool).toMatchObject({ in_use: 1, available: 0 });
    expect(await release(server, lease_token)).toMatchObject({ status: 200, body: { released: true } });
    expect((await seatsOf(server.dataDir, license.license_id)).counted.in_use).toBe(1);
  });

  it('takes any number of seats if they are unlimited', async () => {
    const license = await newFloatingLicense(server, { seats: null });
    for (const in_use of [1000, 2000])
      expect((await lease(server, license, { units: 1000 })).pool).toMatchObject({
        total: null,
        available: null,
        in_use,
      });
  });

  it('takes overdraft seats exactly to their end, and says so', async () => {
    const license = await newFloatingLicense(server, { seats: 2, overdraft_seats: 1 });
    const flags = [];
    for (const _ of [1, 2, 3]) flags.push((await lease(server, license)).lease.overdraft);
    expect(flags).toEqual([false, false, true]);
    const { body } = await checkOut(server, license);
    expect(body.details.pool).toMatchObject({ total: 2, in_use: 3, available: 0, overdraft: 1 });
  });

  it('counts units together, and never takes a part', async () => {
    const license = await newFloatingLicense(server, { seats: 10 });
    await lease(server, license, { units: 7 });
    expect((await checkOut(server, license, { units: 4 })).status).toBe(409);
    await lease(server, license, { units: 3 });
    expect((await checkOut(server, license)).status).toBe(409);
  });

  it('that shares a seat is in overdraft only if the seat was taken in overdraft', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 2, count_by: 'user' });
    const isOverdraft = async (user: string, units = 1) =>
      (await lease(server, license, { user, units })).lease.overdraft;
    expect([await isOverdraft('ada'), await isOverdraft('bob')]).toEqual([false, true]);
    expect([await isOverdraft('ada'), await isOverdraft('bob')]).toEqual([false, true]);
    // She takes another seat.
    expect(await isOverdraft('ada', 2)).toBe(true);
  });

  it('that takes a lingering seat over is in overdraft only if the seat was taken in overdraft', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 1, linger_seconds: 300 });
    const [ada, bob] = [
      { user: 'ada', host: 'a' },
      { user: 'bob', host: 'b' },
    ];
    const { lease_token } = await lease(server, license, ada);
    expect((await lease(server, license, bob)).lease.overdraft).toBe(true);
    await release(server, lease_token);
    expect((await lease(server, license, ada)).lease.overdraft).toBe(false);
  });

  it('lets a license override the seats and overdraft of its plan, and of the plan that it is upgraded to', async () => {
    const { license_key, license_id } = await newFloatingLicense(server, { seats: 1 });
    const { license } = await server.admin.updateLicense({ ref: license_key, seats: 2, overdraft_seats: 1 });
    expect(license).toMatchObject({
      seats: 2,
      seat_limits: { seats: 2, overdraft_seats: 1, overridden: ['seats', 'overdraft_seats'] },
    });
    for (const _ of [1, 2, 3]) await lease(server, license);
    expect((await checkOut(server, license)).status).toBe(409);
    const larger = { name: unique('floating'), licensing: 'floating', seats: 9, tier: 1 } as const;
    await server.admin.createPlan(larger);
    const { license: upgraded } = await server.admin.upgradeLicense({ ref: license_key, plan: larger.name });
    expect(upgraded).toMatchObject({ plan: larger.name, seats: 2 });
    const cleared = await server.admin.updateLicense({ ref: String(license_id), seats: null });
    expect(cleared.license).toMatchObject({ seats: 9, seat_limits: { overridden: ['overdraft_seats'] } });
  });
});

describe('an instance that lost its token', () => {
  it('gets the same lease with a fresh token, and the old token is void', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    const instance_id = newInstanceId();
    const first = await lease(server, license, { instance_id });
    const second = await lease(server, license, { instance_id });
    expect(second.lease.lease_id).toBe(first.lease.lease_id);
    expect(second.lease_token).not.toBe(first.lease_token);
    expect(second.pool.in_use).toBe(1);
    for (const path of ['heartbeat', 'release'])
      expectFailure(
        await server.post(`/leases/${path}/`, { lease_token: first.lease_token }),
        'token_invalid',
      );
    expect(await heartbeat(server, second.lease_token)).toMatchObject({ status: 200 });
    expect((await seatsOf(server.dataDir, license.license_id)).held).toBe(1);
  });

  it('takes no second seat when it asks many times at once', async () => {
    const license = await newFloatingLicense(server, { seats: 5 });
    const instance_id = newInstanceId();
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => lease(server, license, { instance_id })),
    );
    expect(new Set(replies.map((reply) => reply.lease.lease_id)).size).toBe(1);
    const works = await Promise.all(replies.map(({ lease_token }) => heartbeat(server, lease_token)));
    expect(works.filter(({ status }) => status === 200)).toHaveLength(1);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 1 },
      held: 1,
    });
  });
});

describe('an instance that asks on another device', () => {
  const [here, there] = [newFingerprint(), newFingerprint()];

  it('is refused while it holds a seat of its first device', async () => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'device' });
    const instance_id = newInstanceId();
    await lease(server, license, { instance_id, machine_fingerprint: here });
    const refused = await checkOut(server, license, { instance_id, machine_fingerprint: there });
    expectFailure(refused, 'invalid_request');
    expect(refused.body.details).toMatchObject([{ path: 'machine_fingerprint' }]);
  });

  it('gets a seat of that device, and leaves the lingering one', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device', linger_seconds: 3600 });
    const instance_id = newInstanceId();
    const first = await lease(server, license, { instance_id, machine_fingerprint: here });
    await release(server, first.lease_token);
    const second = await lease(server, license, { instance_id, machine_fingerprint: there });
    expect(second).toMatchObject({ lease: { counted_as: `device:${there}` }, pool: { in_use: 1 } });
    const { items } = await server.admin.listLeases({ license: license.license_key });
    expect(items.map(({ state, end_reason }) => [state, end_reason])).toEqual([
      ['active', null],
      ['released', 'released'],
    ]);
  });

  it('waits for a seat of that device, at the end of the queue', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device' });
    await lease(server, license, { machine_fingerprint: newFingerprint() });
    const instance_id = newInstanceId();
    await queued(server, license, { instance_id, machine_fingerprint: here });
    await queued(server, license, { machine_fingerprint: newFingerprint() });
    const moved = await queued(server, license, { instance_id, machine_fingerprint: there });
    expect(moved).toMatchObject({ position: 2, pool: { queued: 2 } });
  });
});

describe('a lease token', () => {
  it('releases only its own lease', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const [mine, other] = [await lease(server, license), await lease(server, license)];
    const wrong = `lds_${'A'.repeat(43)}`;
    for (const token of [wrong, 'lds_', '', mine.lease_token.toLowerCase(), mine.lease_token.slice(0, -1)])
      for (const path of ['heartbeat', 'release', 'return'])
        expectFailure(await server.post(`/leases/${path}/`, { lease_token: token }), 'token_invalid');
    await release(server, other.lease_token);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 1 },
      held: 1,
    });
    expect((await heartbeat(server, mine.lease_token)).status).toBe(200);
  });
});

describe('seats that are shared', () => {
  const share = [
    ['device', { machine_fingerprint: newFingerprint() }, { machine_fingerprint: newFingerprint() }],
    ['user', { user: 'Ada', host: 'a' }, { user: 'Grace', host: 'a' }],
    ['user_host', { user: 'ada', host: 'a' }, { user: 'ada', host: 'b' }],
  ] as const;

  it.each(share)('by %s count once, until the last lease ends', async (count_by, same, other) => {
    const license = await newFloatingLicense(server, { seats: 1, count_by });
    const [first, second] = [await lease(server, license, same), await lease(server, license, same)];
    expect(second.pool.in_use).toBe(1);
    expect(second.lease.lease_id).not.toBe(first.lease.lease_id);
    expect((await checkOut(server, license, other)).status).toBe(409);
    await release(server, first.lease_token);
    expect((await checkOut(server, license, other)).status).toBe(409);
    await release(server, second.lease_token);
    expect((await lease(server, license, other)).pool.in_use).toBe(1);
  });

  it('by user ignore case', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'user' });
    await lease(server, license, { user: 'CORP\\Ada' });
    expect((await lease(server, license, { user: 'corp\\ada' })).lease.counted_as).toBe('user:corp\\ada');
  });

  it.each(['user', 'user_host'] as const)('by %s ignore how an accent is encoded', async (count_by) => {
    const license = await newFloatingLicense(server, { seats: 1, count_by });
    const as = (form: 'NFC' | 'NFD') => ({ user: 'José'.normalize(form), host: 'Büro-1'.normalize(form) });
    const first = await lease(server, license, as('NFC'));
    const second = await lease(server, license, as('NFD'));
    expect([second.pool.in_use, second.lease.counted_as]).toEqual([1, first.lease.counted_as]);
  });

  it('take as many units as the largest of their leases', async () => {
    const license = await newFloatingLicense(server, { seats: 5, count_by: 'user' });
    const [small, large] = [
      await lease(server, license, { user: 'ada', units: 2 }),
      await lease(server, license, { user: 'ada', units: 4 }),
    ];
    expect(large.pool.in_use).toBe(4);
    expect((await checkOut(server, license, { user: 'ada', units: 6 })).status).toBe(409);
    await release(server, large.lease_token);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 2 },
      held: 2,
    });
    await release(server, small.lease_token);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 0 },
      held: 0,
    });
  });

  it.each([
    ['device', 'machine_fingerprint'],
    ['user', 'user'],
    ['user_host', 'user'],
  ] as const)('by %s need to know it', async (count_by, field) => {
    const license = await newFloatingLicense(server, { count_by });
    const reply = await checkOut(server, license);
    expectFailure(reply, 'invalid_request');
    expect(reply.body.details).toEqual([
      { path: field, message: expect.stringContaining('is required') as string },
    ]);
  });
});

describe('a license that does not allow the lease', () => {
  it('is refused as /authorize/ refuses it', async () => {
    const revoked = await newFloatingLicense(server);
    await server.admin.revokeLicense({ ref: revoked.license_key });
    expectFailure(await checkOut(server, revoked), 'license_revoked', 403);
    const { plan } = await newFloatingLicense(server);
    const expired = await newLicense(server, { plan, expires_at: '2020-01-01T00:00:00Z' });
    expectFailure(await checkOut(server, expired), 'license_expired', 403);
    const license = await newFloatingLicense(server, { features: ['reports'] });
    expectFailure(await checkOut(server, license, { product_slug: 'other' }), 'product_mismatch');
    expectFailure(await checkOut(server, license, { feature: 'export' }), 'feature_not_included');
    expectFailure(await checkOut(server, { license_key: generateLicenseKey() }), 'license_not_found');
    expectFailure(await checkOut(server, { license_key: 'nonsense' }), 'invalid_request');
  });

  it('is refused if it is node-locked; a floating one cannot be activated', async () => {
    expectFailure(await checkOut(server, await newLicense(server)), 'license_is_node_locked');
    const { license_key } = await newFloatingLicense(server);
    const device = { license_key, machine_fingerprint: newFingerprint() };
    expectFailure(await server.post('/activate/', device), 'license_is_floating');
  });

  it('keeps its plan’s kind of licensing while licenses use it', async () => {
    const license = await newLicense(server, { plan: (await newFloatingLicense(server)).plan });
    await expect(
      server.admin.updatePlan({ name: license.plan, licensing: 'node_locked' }),
    ).rejects.toMatchObject({
      code: 'plan_in_use',
    });
    await expect(
      server.admin.updateLicense({ ref: (await newLicense(server)).license_key, seats: 3 }),
    ).rejects.toMatchObject({ code: 'license_is_node_locked' });
    await activateDevice(server, await newLicense(server));
  });
});

it('a plan without floating fields stays node-locked', async () => {
  const { plan } = await server.admin.createPlan({ name: unique('plain') });
  expect(plan).toMatchObject({
    licensing: 'node_locked',
    seats: null,
    lease_seconds: 600,
    heartbeat_seconds: 200,
  });
});
