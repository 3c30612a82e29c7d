import { describe, expect, it } from 'vitest';
import {
  adminSuccess,
  callAdmin,
  newFloatingLicense,
  newInstanceId,
  newLease,
  newLicense,
} from '../helpers/contract-calls.ts';
import { checkOut, keepPlaces, queued, release, seatsOf } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const server = sharedServer();

interface Explained {
  granted: boolean;
  reason: string | null;
  counted_as: string | null;
  rules: { rule: string; outcome: string; inputs: Record<string, unknown>; remedy: string | null }[];
  pool: object | null;
}

async function explain(license: { license_key: string }, fields: object = {}) {
  const input = { license: license.license_key, ...fields };
  const body: Explained = await adminSuccess(server, 'explainCheckout', input);
  const failed = body.rules.filter(({ outcome }) => outcome === 'failed');
  return { ...body, failed: failed.map(({ rule, remedy }) => [rule, remedy]) };
}

describe('the explanation of a checkout', () => {
  it('names every rule, and takes no seat', async () => {
    const license = await newFloatingLicense(server, { seats: 2, features: ['reports'] });
    const { license_key, license_id } = license;
    const { granted, rules, pool } = await explain(license, { user: 'ada', feature: 'reports' });
    expect(granted).toBe(true);
    expect(rules.map(({ rule, outcome }) => [rule, outcome])).toEqual([
      ['not_revoked', 'passed'],
      ['in_term', 'passed'],
      ['product', 'not_asked'],
      ['feature', 'passed'],
      ['licensing', 'passed'],
      ['lease_rules', 'passed'],
      ['queue', 'passed'],
      ['seat', 'passed'],
    ]);
    expect(pool).toMatchObject({ total: 2, in_use: 0 });
    await newLease(server, license);
    expect((await seatsOf(server.dataDir, license_id)).held).toBe(1);
    expect((await server.admin.listLeaseDenials({ license: license_key })).items).toEqual([]);
  });

  it('says why there is no seat, and what the checkout answers', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 1 });
    await newLease(server, license, { units: 2 });
    const { reason, failed, rules } = await explain(license);
    expect([reason, failed]).toEqual(['no_seat_available', [['seat', 'reclaim_or_add_seats']]]);
    expect(rules.at(-1)!.inputs).toEqual({ units_needed: 1, in_use: 2, seats: 1, overdraft_seats: 1 });
    expect((await checkOut(server, license)).body.error_code).toBe('no_seat_available');
  });

  it('names the lease rule that denies, limits or reserves', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const add = (type: 'reserve' | 'max' | 'deny', match: object, units?: number) =>
      server.admin.createLeaseRule({ license: license.license_key, type, match, units });
    await add('deny', { user: 'eve' });
    await add('max', { host: 'farm' }, 1);
    await add('reserve', { user: 'boss' }, 1);
    await newLease(server, license, { user: 'joan', host: 'farm' });
    const ruleOf = ({ rules }: Explained) => rules.find(({ rule }) => rule === 'lease_rules')!.inputs['rule'];
    const denied = await explain(license, { user: 'eve' });
    expect([denied.reason, ruleOf(denied)]).toEqual(['denied_by_rule', 'deny, user eve']);
    expectFailure(await checkOut(server, license, { user: 'eve' }), 'denied_by_rule');
    const limited = await explain(license, { user: 'ada', host: 'farm' });
    expect([limited.reason, ruleOf(limited)]).toEqual(['no_seat_available', 'max 1, host farm']);
    const reserved = await explain(license, { user: 'ada' });
    expect([reserved.reason, ruleOf(reserved)]).toEqual(['no_seat_available', 'reserve 1, user boss']);
    expect((await explain(license, { user: 'boss' })).granted).toBe(true);
  });

  it('knows the clients that wait ahead', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const [first] = [await newLease(server, license), await newLease(server, license)];
    await queued(server, license, { units: 2 });
    await keepPlaces(server.dataDir, license.license_id);
    await release(server, first.lease_token);
    const { reason, failed, rules } = await explain(license);
    expect([reason, failed]).toEqual(['no_seat_available', [['queue', 'wait']]]);
    expect(rules.find(({ rule }) => rule === 'queue')!.inputs).toEqual({ waiting_ahead: 1 });
    expect((await checkOut(server, license)).body.error_code).toBe('no_seat_available');
  });

  it('does not count clients that wait for more seats than the license has', async () => {
    const license = await newFloatingLicense(server, { seats: 3 });
    const first = await newLease(server, license, { units: 3 });
    await queued(server, license, { units: 3 });
    await keepPlaces(server.dataDir, license.license_id);
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    await release(server, first.lease_token);
    expect((await explain(license)).failed).toEqual([]);
    expect((await checkOut(server, license)).status).toBe(200);
    expect((await explain(license, { units: 3 })).failed).toEqual([['seat', 'reclaim_or_add_seats']]);
  });

  it('knows that an instance gets its own lease again, and a device shares its seat', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device' });
    const instance_id = newInstanceId();
    const machine_fingerprint = fingerprintOf(51);
    await newLease(server, license, { instance_id, machine_fingerprint });
    expect((await explain(license, { instance_id, machine_fingerprint })).granted).toBe(true);
    const shared = await explain(license, { machine_fingerprint });
    expect(shared).toMatchObject({ granted: true, counted_as: `device:${machine_fingerprint}` });
    expect((await explain(license, { machine_fingerprint: fingerprintOf(52) })).granted).toBe(false);
    const reply = await callAdmin(server, 'explainCheckout', { license: license.license_key });
    expectFailure(reply, 'invalid_request');
    expect(reply.body.message).toContain('machine_fingerprint: is required');
  });

  it('refuses, as the checkout does, an instance whose seat is another device’s', async () => {
    const license = await newFloatingLicense(server, { seats: 5, count_by: 'device', borrow_max_hours: 24 });
    const instance_id = newInstanceId();
    const [here, there] = [fingerprintOf(51), fingerprintOf(52)].map((machine_fingerprint) => ({
      instance_id,
      machine_fingerprint,
    }));
    const { lease_token } = await newLease(server, license, here);
    const asked = await callAdmin(server, 'explainCheckout', { license: license.license_key, ...there });
    const checkout = await checkOut(server, license, there);
    expectFailure(checkout, 'invalid_request');
    expectFailure(asked, 'invalid_request');
    expect(asked.body.message).toBe(checkout.body.message);
    // The license is looked at first.
    expectFailure(await checkOut(server, license, { ...there, feature: 'none' }), 'feature_not_included');
    expect((await explain(license, { ...there, feature: 'none' })).reason).toBe('feature_not_included');
    // The file of a borrowed seat stays bound to its device, regardless of which device asks.
    await server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint: fingerprintOf(51) });
    expect((await explain(license, there)).granted).toBe(true);
    expect((await checkOut(server, license, there)).status).toBe(200);
  });

  it('knows that an instance loses a lease that the license no longer allows', async () => {
    const license = await newFloatingLicense(server, { seats: 2, features: ['reports'] });
    const [oldest, newest] = [newInstanceId(), newInstanceId()];
    await newLease(server, license, { instance_id: oldest, feature: 'reports' });
    await newLease(server, license, { instance_id: newest });
    await server.admin.updateLicense({ ref: license.license_key, seats: 1 });
    expect((await explain(license, { instance_id: newest })).failed).toEqual([
      ['seat', 'reclaim_or_add_seats'],
    ]);
    expect((await checkOut(server, license, { instance_id: newest })).status).toBe(409);
    await server.admin.updatePlan({ name: license.plan, features: [] });
    expect((await explain(license, { instance_id: oldest })).rules.at(-1)).toMatchObject({
      outcome: 'passed',
      inputs: { units_needed: 0, in_use: 1 },
    });
    expect((await checkOut(server, license, { instance_id: oldest })).status).toBe(200);
  });

  it('knows that an instance that loses its lease shares the seat of a different lease', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'user', features: ['reports'] });
    const ada = { instance_id: newInstanceId(), user: 'ada' };
    await newLease(server, license, { ...ada, feature: 'reports' });
    await newLease(server, license, { user: 'ada' });
    await queued(server, license, { user: 'grace' });
    await keepPlaces(server.dataDir, license.license_id);
    await server.admin.updatePlan({ name: license.plan, features: [] });
    expect(await explain(license, ada)).toMatchObject({ granted: true, failed: [] });
    expect((await checkOut(server, license, ada)).status).toBe(200);
  });

  it('knows that an instance leaves its lingering seat on another device', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device', linger_seconds: 300 });
    const instance_id = newInstanceId();
    const on = (machine_fingerprint: string) => ({ instance_id, machine_fingerprint });
    await release(server, (await newLease(server, license, on(fingerprintOf(51)))).lease_token);
    expect(await explain(license, on(fingerprintOf(52)))).toMatchObject({
      granted: true,
      counted_as: `device:${fingerprintOf(52)}`,
    });
    await queued(server, license, { machine_fingerprint: fingerprintOf(53) });
    await keepPlaces(server.dataDir, license.license_id);
    // The seat that it leaves is offered to the client that waits.
    expect((await explain(license, on(fingerprintOf(52)))).failed).toEqual([['queue', 'wait']]);
    expect((await checkOut(server, license, on(fingerprintOf(52)))).status).toBe(409);
  });

  it('knows that a client takes over the seat that it left lingering', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const ada = { user: 'ada', host: 'a' };
    await release(server, (await newLease(server, license, ada)).lease_token);
    await queued(server, license);
    await keepPlaces(server.dataDir, license.license_id);
    const { granted, rules } = await explain(license, ada);
    expect(granted).toBe(true);
    expect(rules.at(-1)!.inputs).toMatchObject({ units_needed: 0, in_use: 1 });
    expect((await explain(license, { user: 'grace', host: 'g' })).granted).toBe(false);
  });

  it('is of the license first', async () => {
    const locked = await newLicense(server);
    expect(await explain(locked)).toMatchObject({
      reason: 'license_is_node_locked',
      failed: [['licensing', 'activate']],
      pool: null,
    });
    const revoked = await newFloatingLicense(server);
    await server.admin.revokeLicense({ ref: revoked.license_key });
    expect(await explain(revoked, { product_slug: 'other' })).toMatchObject({
      reason: 'license_revoked',
      failed: [
        ['not_revoked', 'new_license'],
        ['product', 'other_product'],
      ],
    });
    expectFailure(await callAdmin(server, 'explainCheckout', { license: '999999' }), 'license_not_found');
  });
});
