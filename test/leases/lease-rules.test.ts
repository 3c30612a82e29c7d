// Rules at real checkouts.
import { describe, expect, it } from 'vitest';
import { writeRows } from '../helpers/database.ts';
import {
  newFingerprint,
  newFloatingLicense,
  newInstanceId,
  newLeaseGroup,
  newLeaseRule,
} from '../helpers/contract-calls.ts';
import { checkOut, keepPlaces, lease, queued, release, seatsOf } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();

const OVER_LIMIT = (match: string) => `a lease rule limits the seats of this client: max 1, ${match}`;

type Rule = Parameters<typeof server.admin.createLeaseRule>[0];

async function newLicenseWith(seats: number, ...rules: Omit<Rule, 'license'>[]) {
  const license = await newFloatingLicense(server, { seats });
  const ids: number[] = [];
  for (const rule of rules) {
    const added = await server.admin.createLeaseRule({ ...rule, license: license.license_key });
    ids.push(added.rule.id);
  }
  return { license, ids };
}

async function expectForecast(license: { license_key: string }, user: string, granted: boolean) {
  const explained = await server.admin.explainCheckout({ license: license.license_key, user });
  const tried = await server.admin.tryLeaseRules({ license: license.license_key, user });
  expect([explained.granted, tried.granted], user).toEqual([granted, granted]);
}

describe('a checkout', () => {
  it('is denied by the first rule that matches, and the denial names it', async () => {
    const { license, ids } = await newLicenseWith(
      2,
      { type: 'allow', match: { user: 'ada' } },
      { type: 'deny', match: { address: '127.0.0.0/8' } },
    );
    await lease(server, license, { user: 'ADA' });
    const refused = await checkOut(server, license, { user: 'eve' });
    expectFailure(refused, 'denied_by_rule');
    expect(refused.body.message).toContain('deny, address 127.0.0.0/8');
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([
      { error_code: 'denied_by_rule', rule_id: ids[1], rule: 'deny, address 127.0.0.0/8', user: 'eve' },
    ]);
  });

  it('never gets a seat that is reserved for others, however many ask at once', async () => {
    const group = await newLeaseGroup(server, { members: ['ada', 'grace'] });
    const { license, ids } = await newLicenseWith(5, {
      type: 'reserve',
      match: { group: group.name },
      units: 2,
    });
    const replies = await Promise.all(
      Array.from({ length: 12 }, (_, at) => checkOut(server, license, { user: `other-${at}` })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = await checkOut(server, license, { user: 'eve' });
    expect([refused.status, refused.body.error_code]).toEqual([409, 'no_seat_available']);
    expect(refused.body.details.pool).toMatchObject({ total: 5, in_use: 3, available: 0, reserved: 2 });
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key, limit: 1 });
    expect(items).toMatchObject([{ rule_id: ids[0], rule: `reserve 2, group ${group.name}` }]);
    const { pool } = await lease(server, license, { user: 'grace' });
    expect(pool).toMatchObject({ in_use: 4, reserved: 1 });
    await lease(server, license, { user: 'ada' });
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({ held: 5 });
  });

  it('counts against the limit of everyone in the match, until a seat is released', async () => {
    const { license } = await newLicenseWith(5, { type: 'max', match: { host: 'farm' }, units: 1 });
    const { lease_token } = await lease(server, license, { host: 'FARM', user: 'a' });
    const refused = await checkOut(server, license, { host: 'farm', user: 'b' });
    expect(refused.body.error_code).toBe('no_seat_available');
    await lease(server, license, { host: 'desk' });
    await release(server, lease_token);
    await lease(server, license, { host: 'farm', user: 'b' });
  });

  it('does not count a lingering seat that it takes over against the limit', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const match = { user: 'ada' };
    await server.admin.createLeaseRule({ license: license.license_key, type: 'max', match, units: 1 });
    const ada = { user: 'ada', host: 'a' };
    await release(server, (await lease(server, license, ada)).lease_token);
    expect((await lease(server, license, ada)).pool.in_use).toBe(1);
    const { body } = await checkOut(server, license, ada);
    expect([body.error_code, body.message]).toEqual(['no_seat_available', OVER_LIMIT('user ada')]);
  });

  it('follows an edit at once; leases that clients hold stay', async () => {
    const { name } = await newLeaseGroup(server);
    const { license, ids } = await newLicenseWith(3, { type: 'deny', match: { group: name } });
    const instance_id = newInstanceId();
    await lease(server, license, { user: 'ada', instance_id });
    await server.admin.updateLeaseGroup({ name, add_members: ['ada'] });
    expectFailure(await checkOut(server, license, { user: 'ada' }), 'denied_by_rule');
    // The same client gets its own lease again.
    await lease(server, license, { user: 'ada', instance_id });
    await server.admin.updateLeaseRule({ id: ids[0] ?? 0, type: 'allow' });
    await lease(server, license, { user: 'ada' });
  });
});

describe('a seat that clients share', () => {
  // The names in either order: which of them is first in the alphabet must not matter.
  it.each(['bob', 'aaron'])('is reserved for the client that took it, also with %s on it', async (other) => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'device' });
    await newLeaseRule(server, {
      license: license.license_key,
      type: 'reserve',
      match: { user: 'alice' },
      units: 1,
    });
    const [shared, own] = [newFingerprint(), newFingerprint()];
    await lease(server, license, { user: 'alice', machine_fingerprint: shared });
    const { pool } = await lease(server, license, { user: other, machine_fingerprint: shared });
    expect(pool).toMatchObject({ in_use: 1, available: 1, reserved: 0 });
    await lease(server, license, { user: 'carol', machine_fingerprint: own });
  });

  it.each(['bob', 'aaron'])('of %s takes none from the reservation of one who joins', async (first) => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'device' });
    await newLeaseRule(server, {
      license: license.license_key,
      type: 'reserve',
      match: { user: 'alice' },
      units: 1,
    });
    const [shared, own] = [newFingerprint(), newFingerprint()];
    await lease(server, license, { user: first, machine_fingerprint: shared });
    const { pool } = await lease(server, license, { user: 'alice', machine_fingerprint: shared });
    expect(pool).toMatchObject({ in_use: 1, available: 0, reserved: 1 });
    const refused = await checkOut(server, license, { user: 'carol', machine_fingerprint: own });
    expect(refused.body.error_code).toBe('no_seat_available');
    await lease(server, license, { user: 'alice', machine_fingerprint: own });
  });

  it.each(['zeus', 'atlas'])('counts for the host that took it, also with %s on it', async (other) => {
    const license = await newFloatingLicense(server, { seats: 3, count_by: 'user' });
    await newLeaseRule(server, {
      license: license.license_key,
      type: 'max',
      match: { host: 'render' },
      units: 1,
    });
    const { lease_token } = await lease(server, license, { user: 'ada', host: 'render' });
    await lease(server, license, { user: 'ada', host: other });
    const refused = await checkOut(server, license, { user: 'bob', host: 'render' });
    expect(refused.body).toMatchObject({
      error_code: 'no_seat_available',
      message: OVER_LIMIT('host render'),
    });
    // Only the other host uses it then.
    await release(server, lease_token);
    await lease(server, license, { user: 'bob', host: 'render' });
  });
});

describe('a client that waits', () => {
  it('because of a rule does not hold up those behind it', async () => {
    const { license, ids } = await newLicenseWith(3, { type: 'max', match: { user: 'ada' }, units: 1 });
    await lease(server, license, { user: 'ada' });
    const waiting = { user: 'ada', instance_id: newInstanceId(), wait_seconds: 600 };
    const { ticket } = await queued(server, license, waiting);
    await lease(server, license, { user: 'grace' });
    await server.admin.deleteLeaseRule({ id: ids[0] ?? 0 });
    await lease(server, license, { ...waiting, ticket });
  });

  it('for several seats that a limit keeps from it does not hold up those behind it', async () => {
    const { license } = await newLicenseWith(5, { type: 'max', match: { user: 'ada' }, units: 2 });
    const ada = await lease(server, license, { user: 'ada', units: 2 });
    await lease(server, license, { user: 'bob', units: 2 });
    const waiting = { user: 'ada', units: 2, instance_id: newInstanceId(), wait_seconds: 3600 };
    const { ticket } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    await lease(server, license, { user: 'grace' });
    expect((await checkOut(server, license, { ...waiting, ticket })).status).toBe(202);
    await keepPlaces(server.dataDir, license.license_id);
    await release(server, ada.lease_token);
    await lease(server, license, { ...waiting, ticket });
  });

  it('until its time is up is told which rule kept the seat from it', async () => {
    const { license, ids } = await newLicenseWith(2, { type: 'max', match: { user: 'ada' }, units: 1 });
    await lease(server, license, { user: 'ada' });
    const waiting = { user: 'ada', instance_id: newInstanceId(), wait_seconds: 60 };
    const { ticket, lease: held } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    await writeRows(server.dataDir, `UPDATE leases SET wait_until = 0 WHERE id = ${held.lease_id}`);
    const { status, body } = await checkOut(server, license, { ...waiting, ticket });
    expect([status, body.message]).toEqual([409, OVER_LIMIT('user ada')]);
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([{ rule_id: ids[0], rule: 'max 1, user ada' }]);
  });

  it('is served first when a rule goes, and no one takes a reserved seat meanwhile', async () => {
    const { license, ids } = await newLicenseWith(
      3,
      { type: 'reserve', match: { user: 'boss' }, units: 1 },
      { type: 'max', match: { user: 'ada' }, units: 1 },
    );
    await lease(server, license, { user: 'ada' });
    await queued(server, license, { user: 'ada', wait_seconds: 600 });
    await keepPlaces(server.dataDir, license.license_id);
    await server.admin.deleteLeaseRule({ id: ids[1] ?? 0 });
    // The one open seat is offered to ada, so only the reserved one is left.
    const late = await checkOut(server, license, { user: 'eve' });
    expect(late.body.error_code).toBe('no_seat_available');
    await lease(server, license, { user: 'boss' });
  });

  it('for several seats does not keep a seat from a client for whom it is reserved', async () => {
    const { license } = await newLicenseWith(
      4,
      { type: 'reserve', match: { user: 'boss' }, units: 1 },
      { type: 'reserve', match: { user: 'chief' }, units: 1 },
    );
    const ada = await lease(server, license, { user: 'ada' });
    const eve = await lease(server, license, { user: 'eve' });
    const waiting = { user: 'grace', units: 2, instance_id: newInstanceId(), wait_seconds: 3600 };
    const { ticket } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    await expectForecast(license, 'boss', true);
    const boss = await lease(server, license, { user: 'boss' });
    // Further seats of the same clients are not reserved, so they wait behind.
    const { ticket: second } = await queued(server, license, {
      user: 'boss',
      instance_id: 'boss-in-the-queue',
    });
    await keepPlaces(server.dataDir, license.license_id);
    const late = await checkOut(server, license, { user: 'boss' });
    expect(late.body.error_code).toBe('no_seat_available');
    // A client with a reservation that waits is offered its seat, although others wait before it.
    await release(server, boss.lease_token);
    await lease(server, license, { user: 'boss', instance_id: 'boss-in-the-queue', ticket: second });
    await lease(server, license, { user: 'chief' });
    await release(server, ada.lease_token);
    await release(server, eve.lease_token);
    await lease(server, license, { ...waiting, ticket });
  });

  it('for several seats is not overtaken while one of the free seats is reserved', async () => {
    const { license } = await newLicenseWith(3, { type: 'reserve', match: { user: 'boss' }, units: 1 });
    const ada = await lease(server, license, { user: 'ada' });
    const eve = await lease(server, license, { user: 'eve' });
    const waiting = { user: 'grace', units: 2, instance_id: newInstanceId(), wait_seconds: 3600 };
    const { ticket } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    await release(server, ada.lease_token);
    await expectForecast(license, 'bob', false);
    const late = await checkOut(server, license, { user: 'bob' });
    expect([late.status, late.body.message]).toEqual([409, 'other clients are waiting for the free seats']);
    await release(server, eve.lease_token);
    await lease(server, license, { ...waiting, ticket });
    await lease(server, license, { user: 'boss' });
  });

  it('is not overtaken by a client that may use the same reservation', async () => {
    const group = await newLeaseGroup(server, { members: ['grace', 'boss'] });
    const { license } = await newLicenseWith(3, {
      type: 'reserve',
      match: { group: group.name },
      units: 2,
    });
    const ada = await lease(server, license, { user: 'ada' });
    const waiting = { user: 'grace', units: 3, instance_id: newInstanceId(), wait_seconds: 3600 };
    const { ticket } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    expect((await checkOut(server, license, { user: 'boss' })).status).toBe(409);
    await release(server, ada.lease_token);
    await lease(server, license, { ...waiting, ticket });
  });

  it('for more seats than a rule leaves to it does not hold up those behind it', async () => {
    const { license, ids } = await newLicenseWith(3, { type: 'reserve', match: { user: 'boss' }, units: 2 });
    const boss = await lease(server, license, { user: 'boss', units: 2 });
    const waiting = { user: 'ada', units: 2, instance_id: newInstanceId(), wait_seconds: 600 };
    const { ticket } = await queued(server, license, waiting);
    await keepPlaces(server.dataDir, license.license_id);
    const grace = await lease(server, license, { user: 'grace' });
    await server.admin.deleteLeaseRule({ id: ids[0] ?? 0 });
    await release(server, grace.lease_token);
    const late = await checkOut(server, license, { user: 'grace' });
    expect(late.body.error_code).toBe('no_seat_available');
    await release(server, boss.lease_token);
    await lease(server, license, { ...waiting, ticket });
  });
});
