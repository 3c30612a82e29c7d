// When a device was last seen, and one that takes the seat of another.
import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newLicense,
  success,
} from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import type { LicenseRecord } from '#server/features/licenses/license-contract.ts';

const START = Date.UTC(2031, 5, 1);
const MINUTE = 60_000;
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const devicesOf = async ({ license_key: ref }: LicenseRecord) =>
  (await server.admin.listDevices({ ref })).items;
const lastSeen = async (license: LicenseRecord) => (await devicesOf(license))[0]?.last_seen_at;
const offline = async (license: LicenseRecord, fingerprint: string) => {
  const { formatMachineRequest } = await import('../../verifier/machine-request.ts');
  const nonce = crypto.randomUUID();
  const { license_key: licenseKey } = license;
  const request = formatMachineRequest({ licenseKey, fingerprint, nonce, issuedAt: clock.now() });
  return adminSuccess(server, 'activateOffline', { request });
};

describe('a device', () => {
  it('is seen when it activates, asks or validates its file, at most every five minutes', async () => {
    const license = await newLicense(server);
    const { license_key } = license;
    const { activation, license_file } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const authorize = (fields: object = {}) => success(server, 'authorize', { license_key, ...fields });
    expect(await lastSeen(license)).toBe(at(START));

    clock.advance(4 * MINUTE);
    await authorize({ machine_fingerprint });
    expect(await lastSeen(license)).toBe(at(START));
    clock.advance(MINUTE);
    await authorize({ machine_fingerprint, feature: 'not included' });
    expect(await lastSeen(license)).toBe(at(START + 5 * MINUTE));
    // The answer is in memory now, and remembers the time as well.
    clock.advance(5 * MINUTE);
    await authorize({ machine_fingerprint });
    await authorize({ machine_fingerprint });
    expect(await lastSeen(license)).toBe(at(START + 10 * MINUTE));

    clock.advance(10 * MINUTE);
    await success(server, 'activate', { license_key, machine_fingerprint });
    expect(await lastSeen(license)).toBe(at(START + 20 * MINUTE));
    clock.advance(10 * MINUTE);
    await success(server, 'validateOffline', { license_file, machine_fingerprint });
    expect(await lastSeen(license)).toBe(at(START + 30 * MINUTE));

    // None of these comes from the device.
    clock.advance(60 * MINUTE);
    await authorize();
    await authorize({ machine_fingerprint: newFingerprint() });
    await success(server, 'validateOffline', { license_file });
    await adminSuccess(server, 'explainAuthorization', { license: license_key, machine_fingerprint });
    await offline(license, machine_fingerprint);
    expect(await lastSeen(license)).toBe(at(START + 30 * MINUTE));
  });

  it('that was activated for an offline machine has not been seen', async () => {
    const license = await newLicense(server);
    await offline(license, newFingerprint());
    expect(await lastSeen(license)).toBeNull();
  });

  it('is not seen in the future once the clock is right again', async () => {
    const license = await newLicense(server);
    const { license_key } = license;
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    const now = clock.now();
    const authorize = () => success(server, 'authorize', { license_key, machine_fingerprint });
    clock.advance(24 * 60 * MINUTE);
    await authorize();
    expect(await lastSeen(license)).toBe(at(now + 24 * 60 * MINUTE));
    clock.set(now);
    await authorize();
    expect(await lastSeen(license)).toBe(at(now));
  });

  it('is seen at the time of its call, however late that is written', async () => {
    const license = await newLicense(server);
    const { license_key } = license;
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    clock.advance(5 * MINUTE);
    const calledAt = clock.now();
    await success(server, 'authorize', { license_key, machine_fingerprint });
    clock.advance(4000);
    expect(await lastSeen(license)).toBe(at(calledAt));
  });

  it('keeps the later time of another server, however late its own is written', async () => {
    const license = await newLicense(server);
    const { license_key } = license;
    const { activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    clock.advance(5 * MINUTE);
    await success(server, 'authorize', { license_key, machine_fingerprint });
    const later = clock.now() + 6 * MINUTE;
    clock.advance(10 * MINUTE);
    const write = `UPDATE activations SET last_seen_at = ${later} WHERE license_id = ${license.license_id}`;
    await writeRows(server.dataDir, write);
    expect(await lastSeen(license)).toBe(at(later));
  });

  it('is written by the hundreds in one statement, after the calls', async () => {
    const license = await newLicense(server, { plan: 'enterprise' });
    const devices = await Promise.all(Array.from({ length: 600 }, () => activateDevice(server, license)));
    clock.advance(5 * MINUTE);
    await Promise.all(
      devices.map(({ activation: { machine_fingerprint } }) =>
        success(server, 'authorize', { license_key: license.license_key, machine_fingerprint }),
      ),
    );
    await devicesOf(license);
    const counted = await selectRows(
      server.dataDir,
      `SELECT count(*) AS n FROM activations WHERE license_id = ${license.license_id} AND last_seen_at = ${clock.now()}`,
    );
    expect(counted).toEqual([{ n: 600 }]);
  });
});

describe('replacing a device', () => {
  const replace = (license: LicenseRecord, machine_fingerprint: string, fields: object) =>
    callAdmin(server, 'replaceDevice', { ref: license.license_key, machine_fingerprint, ...fields });

  it('moves its seat at once, with one entry in the timeline and one event; repeating it changes nothing', async () => {
    const license = await newLicense(server);
    const old = (await activateDevice(server, license)).activation;
    const next = newFingerprint();
    clock.advance(MINUTE);
    const fields = { new_machine_fingerprint: next, machine_name: 'ws-8', platform: 'Linux' };
    const moved = await adminSuccess(server, 'replaceDevice', {
      ref: license.license_key,
      machine_fingerprint: old.machine_fingerprint,
      ...fields,
    });
    expect(moved).toMatchObject({
      device: {
        machine_fingerprint: next,
        machine_name: 'ws-8',
        platform: 'Linux',
        released_at: null,
        last_seen_at: null,
        replaces_device_id: old.id,
      },
      released: { id: old.id, released_at: at(START + MINUTE) },
    });
    const { license_key } = license;
    const allowed = (machine_fingerprint: string) =>
      success(server, 'authorize', { license_key, machine_fingerprint });
    expect(await allowed(old.machine_fingerprint)).toMatchObject({ reason: 'machine_not_activated' });
    expect(await allowed(next)).toMatchObject({ authorized: true });
    const check = { license_file: moved.license_file, machine_fingerprint: next };
    expect(await success(server, 'validateOffline', check)).toMatchObject({ valid: true });

    const again = await replace(license, old.machine_fingerprint, fields);
    expect(again.body).toMatchObject({ device: { id: moved.device.id }, released: moved.released });
    const { items } = await server.admin.licenseTimeline({ license: license_key });
    expect(items.map(({ name }) => name).toSorted()).toEqual([
      'device.activated',
      'device.replaced',
      'license.activated',
      'license.activated',
      'license.created',
    ]);
    expect(items.find(({ name }) => name === 'device.replaced')?.detail).toMatchObject({
      before: { machine_fingerprint: old.machine_fingerprint },
      after: { machine_fingerprint: next },
    });
    expect((await server.admin.showLicense({ ref: license_key })).license).toMatchObject({
      activation_count: 1,
      machine_fingerprint: next,
    });
  });

  it('has one winner among ten; the others are told who has won', async () => {
    const license = await newLicense(server, { plan: 'professional' });
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    const replies = await Promise.all(
      Array.from({ length: 10 }, () =>
        replace(license, machine_fingerprint, { new_machine_fingerprint: newFingerprint() }),
      ),
    );
    const winner = replies.find(({ status }) => status === 200)?.body.device.machine_fingerprint as string;
    const losers = replies.filter(({ status }) => status !== 200);
    expect(losers).toHaveLength(9);
    for (const loser of losers) {
      expectFailure(loser, 'device_replaced');
      expect(loser.body.message).toContain(winner);
    }
    expect((await devicesOf(license)).filter(({ released_at }) => released_at === null)).toHaveLength(1);
  });

  it('works while all seats are taken, and is refused where it makes no sense', async () => {
    const license = await newLicense(server, { plan: 'professional' });
    const [first, second] = [await activateDevice(server, license), await activateDevice(server, license)];
    const [one, two] = [first.activation.machine_fingerprint, second.activation.machine_fingerprint];
    expectFailure(await replace(license, one, { new_machine_fingerprint: one }), 'invalid_request');
    expectFailure(await replace(license, one, { new_machine_fingerprint: two }), 'device_already_active');
    const next = { new_machine_fingerprint: newFingerprint() };
    expectFailure(await replace(license, newFingerprint(), next), 'device_not_found');
    await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint: one });
    expectFailure(await replace(license, one, next), 'device_not_found');
    expectFailure(await replace({ ...license, license_key: '999999' }, two, next), 'license_not_found');
    // Back to where it was: a device that has been replaced can replace its successor.
    await adminSuccess(server, 'replaceDevice', {
      ref: license.license_key,
      machine_fingerprint: two,
      ...next,
    });
    const back = await replace(license, next.new_machine_fingerprint, { new_machine_fingerprint: two });
    expect(back.status).toBe(200);
    await server.admin.revokeLicense({ ref: license.license_key });
    expectFailure(await replace(license, two, next), 'license_revoked');

    const name = `floating-${license.license_id}`;
    await server.admin.createPlan({ name, licensing: 'floating', seats: 3 });
    const floating = await newLicense(server, { plan: name });
    expectFailure(await replace(floating, one, next), 'license_is_floating');
  });
});

it('lists the seats that leases of a floating license hold', async () => {
  const name = 'floating-listed';
  await server.admin.createPlan({ name, licensing: 'floating', seats: 3 });
  const floating = await newLicense(server, { plan: name, product: 'listed' });
  const nodeLocked = await newLicense(server, { product: 'listed' });
  const seats = async () =>
    (await server.admin.listLicenses({ product: 'listed', order: 'asc' })).items.map((license) => [
      license.license_id,
      license.seats_in_use,
    ]);
  const expected = (used: number) => [
    [floating.license_id, used],
    [nodeLocked.license_id, null],
  ];
  expect(await seats()).toEqual(expected(0));
  const { license_key } = floating;
  const lease = await success(server, 'checkoutLease', {
    license_key,
    product_slug: 'listed',
    instance_id: 'a'.repeat(16),
    units: 2,
  });
  expect(await seats()).toEqual(expected(2));
  await success(server, 'releaseLease', { lease_token: lease.lease_token });
  expect(await seats()).toEqual(expected(0));
});
