import { describe, expect, it } from 'vitest';
import { newFingerprint, newFloatingLicense, newInstanceId, success } from '../helpers/contract-calls.ts';
import {
  type Checkout,
  checkOut,
  heartbeat,
  keepPlaces,
  lease,
  queued,
  release,
  seatsOf,
} from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();

const GOES_ON = [200, undefined];
const LOWERED = [410, 'seats_lowered'];

/** The answers to one heartbeat after the other. */
async function beats(leases: readonly Checkout[]) {
  const replies = [];
  for (const { lease_token } of leases) replies.push(await heartbeat(server, lease_token));
  return replies.map(({ status, body }) => [status, body.reason]);
}

/** One lease for each name of a device, in this order. */
async function sharing(seats: number, ...names: string[]) {
  const license = await newFloatingLicense(server, { seats, count_by: 'device' });
  const devices = new Map(names.map((name) => [name, newFingerprint()]));
  const leases: Checkout[] = [];
  for (const name of names)
    leases.push(await lease(server, license, { machine_fingerprint: devices.get(name) }));
  return { license, leases };
}

describe('a heartbeat', () => {
  it('extends one lease, or many in order', async () => {
    const license = await newFloatingLicense(server, { seats: 3 });
    const [one, two] = [await lease(server, license), await lease(server, license)];
    expect(await success(server, 'heartbeatLeases', { lease_token: one.lease_token })).toMatchObject({
      lease: { lease_id: one.lease.lease_id, state: 'active', expires_in: 600 },
    });
    await release(server, two.lease_token);
    const tokens = [two.lease_token, one.lease_token, 'lds_unknown'];
    expect(await success(server, 'heartbeatLeases', { leases: tokens })).toMatchObject({
      leases: [
        { error_code: 'lease_gone', reason: 'released' },
        { lease: { lease_id: one.lease.lease_id } },
        { error_code: 'token_invalid' },
      ],
    });
  });

  it('takes 100 tokens and not more', async () => {
    const tokens = Array.from({ length: 101 }, () => 'lds_x');
    expectFailure(await server.post('/leases/heartbeat/', { leases: tokens }), 'invalid_request');
    expect((await server.post('/leases/heartbeat/', { leases: tokens.slice(1) })).body.leases).toHaveLength(
      100,
    );
    expectFailure(await server.post('/leases/heartbeat/', {}), 'invalid_request');
  });

  it('of a released lease says that it is gone', async () => {
    const { lease_token } = await lease(server, await newFloatingLicense(server));
    await release(server, lease_token);
    const reply = await heartbeat(server, lease_token);
    expect([reply.status, reply.body]).toMatchObject([410, { error_code: 'lease_gone', reason: 'released' }]);
  });

  it('ends the lease of a revoked license', async () => {
    const license = await newFloatingLicense(server);
    const { lease_token } = await lease(server, license);
    await server.admin.revokeLicense({ ref: license.license_key });
    for (const _ of [1, 2])
      expect((await heartbeat(server, lease_token)).body).toMatchObject({
        error_code: 'lease_gone',
        reason: 'license_revoked',
      });
    expect((await seatsOf(server.dataDir, license.license_id)).counted.in_use).toBe(0);
  });

  it('ends the newest leases after the seats were lowered, in any order of heartbeats', async () => {
    const license = await newFloatingLicense(server, { seats: 4 });
    const leases: Checkout[] = [];
    for (const _ of [1, 2, 3, 4]) leases.push(await lease(server, license));
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    expect(await beats(leases)).toEqual([GOES_ON, GOES_ON, LOWERED, LOWERED]);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 2 },
      held: 2,
    });
  });

  it.each([
    ['A first', [0, 1, 2, 3, 4]],
    ['D first', [4, 3, 2, 1, 0]],
  ])('ends all leases of the newest shared seats after the seats were lowered, %s', async (_, order) => {
    const { license, leases } = await sharing(4, 'A', 'B', 'C', 'D', 'D');
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    const expected = [GOES_ON, GOES_ON, LOWERED, LOWERED, LOWERED];
    expect(await beats(order.map((index) => leases[index]!))).toEqual(order.map((index) => expected[index]));
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 2 },
      held: 2,
    });
  });

  it('ends no later lease of a seat that was taken before the newest one', async () => {
    const { license, leases } = await sharing(4, 'D', 'A', 'B', 'C', 'D');
    await server.admin.updateLicense({ ref: license.license_key, seats: 3 });
    expect(await beats(leases.toReversed())).toEqual([GOES_ON, LOWERED, GOES_ON, GOES_ON, GOES_ON]);
  });

  it.each([
    ['a loan', 'borrow'],
    ['its recovery', 'recover'],
  ] as const)('ends the newest leases after the seats were lowered, and %s saves none', async (_, way) => {
    const license = await newFloatingLicense(server, { seats: 4 });
    const instances = [1, 2, 3, 4].map(() => newInstanceId());
    const leases: Checkout[] = [];
    for (const instance_id of instances) leases.push(await lease(server, license, { instance_id }));
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    const ways = {
      borrow: ({ lease_token }: Checkout) =>
        server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint: newFingerprint() }),
      recover: (_lease: Checkout, index: number) =>
        checkOut(server, license, { instance_id: instances[index] }),
    };
    for (const index of [3, 2]) {
      const { status, body } = await ways[way](leases[index]!, index);
      expect([status, body.reason ?? body.error_code]).toEqual(
        way === 'borrow' ? LOWERED : [409, 'no_seat_available'],
      );
    }
    expect(await beats(leases)).toEqual([GOES_ON, GOES_ON, LOWERED, LOWERED]);
    expect((await ways[way](leases[1]!, 1)).status).toBe(200);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 2 },
      held: 2,
    });
  });

  it('ends no older lease in favor of a lingering seat that its client takes again', async () => {
    const license = await newFloatingLicense(server, { seats: 3, linger_seconds: 300 });
    const [oldest, newest] = [newInstanceId(), newInstanceId()];
    const first = await lease(server, license, { instance_id: oldest });
    const second = await lease(server, license);
    const third = await lease(server, license, { instance_id: newest });
    for (const { lease_token } of [first, third]) await release(server, lease_token);
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    expect((await checkOut(server, license, { instance_id: oldest })).body.lease).toMatchObject({
      lease_id: first.lease.lease_id,
    });
    expect((await checkOut(server, license, { instance_id: newest })).status).toBe(409);
    expect(await beats([second])).toEqual([GOES_ON]);
  });

  it.each(['before', 'after'] as const)(
    'ends no older lease in favor of a seat that was left to linger %s the seats were lowered',
    async (time) => {
      const license = await newFloatingLicense(server, { seats: 2, linger_seconds: 3600 });
      const [older, newer] = [await lease(server, license), await lease(server, license)];
      if (time === 'before') await release(server, newer.lease_token);
      await server.admin.updateLicense({ ref: license.license_key, seats: 1 });
      if (time === 'after') await release(server, newer.lease_token);
      expect(await beats([older, newer])).toEqual([GOES_ON, LOWERED]);
      expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
        counted: { in_use: 1 },
        held: 1,
      });
    },
  );

  it('of a client that has left a seat ends it if the license no longer has it', async () => {
    const license = await newFloatingLicense(server, { seats: 2, linger_seconds: 3600 });
    const [, newer] = [await lease(server, license), await lease(server, license)];
    await release(server, newer.lease_token);
    await server.admin.updateLicense({ ref: license.license_key, seats: 1 });
    expect(await beats([newer])).toEqual([LOWERED]);
    expect((await seatsOf(server.dataDir, license.license_id)).counted.in_use).toBe(1);
  });

  it.each([
    ['its client', true],
    ['the older lease', false],
  ])('ends no older lease in favor of a seat that is only offered, and %s asks first', async (_, isFirst) => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const [older, other] = [await lease(server, license), await lease(server, license)];
    const instance_id = newInstanceId();
    const { ticket } = await queued(server, license, { instance_id });
    await keepPlaces(server.dataDir, license.license_id);
    await release(server, other.lease_token);
    await server.admin.updateLicense({ ref: license.license_key, seats: 1 });
    const ask = async () => {
      const reply = await checkOut(server, license, { instance_id, ticket, wait_seconds: 3600 });
      await keepPlaces(server.dataDir, license.license_id);
      return reply;
    };
    if (isFirst) expect((await ask()).body).toMatchObject({ position: 1, pool: { in_use: 1, queued: 1 } });
    expect(await beats([older])).toEqual([GOES_ON]);
    expect((await ask()).status).toBe(202);
    await release(server, older.lease_token);
    expect((await ask()).status).toBe(200);
    expect((await seatsOf(server.dataDir, license.license_id)).counted).toMatchObject({
      in_use: 1,
      queued: 0,
    });
  });

  it('or a repeated checkout ends a lease for an entitlement that the plan has lost', async () => {
    const license = await newFloatingLicense(server, { seats: 1, features: ['reports'] });
    const instance_id = newInstanceId();
    const old = await lease(server, license, { instance_id, feature: 'reports' });
    await server.admin.updatePlan({ name: license.plan, features: [] });
    const again = await lease(server, license, { instance_id });
    expect(again.lease).toMatchObject({ feature: null });
    expect(again.lease.lease_id).not.toBe(old.lease.lease_id);
    expect(await beats([old, again])).toEqual([[410, 'feature_not_included'], GOES_ON]);
  });

  it('takes the lease length of a changed plan', async () => {
    const license = await newFloatingLicense(server);
    const { lease_token } = await lease(server, license);
    await server.admin.updatePlan({ name: license.plan, lease_seconds: 90 });
    expect((await heartbeat(server, lease_token)).body.lease).toMatchObject({
      expires_in: 90,
      heartbeat_seconds: 30,
    });
  });
});
