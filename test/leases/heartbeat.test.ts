import { describe, expect, it } from 'vitest';
import { newFloatingLicense, success } from '../helpers/contract-calls.ts';
import { type Checkout, heartbeat, lease, release, seatsOf } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();

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
    const beats = async () => {
      const replies = [];
      for (const { lease_token } of leases) replies.push(await heartbeat(server, lease_token));
      return replies.map(({ status, body }) => [status, body.reason]);
    };
    const gone = [410, 'seats_lowered'];
    expect(await beats()).toEqual([[200, undefined], [200, undefined], gone, gone]);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 2 },
      held: 2,
    });
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
