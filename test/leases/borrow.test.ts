import { execFileSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseLicenseFile } from '../../verifier/license-file-format.ts';
import { parsePublicKeys } from '../../verifier/public-key-format.ts';
import { verifyLicenseFile } from '../../verifier/verify-license-file.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { runCli } from '../helpers/cli.ts';
import { newFingerprint, newFloatingLicense, newInstanceId, success } from '../helpers/contract-calls.ts';
import { almost, checkOut, heartbeat, lease, makeDue, queued, release, seatsOf } from '../helpers/leases.ts';
import { eventsOf } from '../helpers/outbox.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
const HOUR_MS = 3_600_000;

async function borrowed(plan: object = {}, fields: object = {}) {
  const license = await newFloatingLicense(server, plan);
  const checkedOut = await lease(server, license);
  const machine_fingerprint = newFingerprint();
  const request = { lease_token: checkedOut.lease_token, hours: 1, machine_fingerprint, ...fields };
  const reply = await success(server, 'borrowLease', request);
  const { lease: loan, lease_file } = reply as { lease: { expires_at: string }; lease_file: string };
  return { license, ...checkedOut, machine_fingerprint, loan, lease_file };
}

async function publicKey(): Promise<string> {
  return (await server.get('/public-key/')).body.public_key_pem as string;
}

async function fileWith(text: string | Uint8Array, name: string): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'license-desk-lease-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  await writeFile(join(folder, name), text);
  return join(folder, name);
}

describe('a borrowed seat', () => {
  it('stays taken without heartbeats, until its end', async () => {
    const { license, lease_token, loan } = await borrowed({ seats: 1 });
    expect(loan).toMatchObject({ state: 'borrowed', expires_in: almost(3600) });
    expect((await heartbeat(server, lease_token)).body.lease).toMatchObject({
      state: 'borrowed',
      expires_in: almost(3600),
    });
    const { body } = await checkOut(server, license);
    expect(body.details.pool).toMatchObject({ in_use: 1, borrowed: 1 });
    await makeDue(server.dataDir, license.license_id);
    await eventually(async () => expect((await checkOut(server, license)).status).toBe(200));
    expect((await heartbeat(server, lease_token)).body).toMatchObject({ reason: 'returned' });
  });

  it.each(['lease_token', 'lease_file'] as const)('is returned by its %s, once', async (by) => {
    const loan = await borrowed({ seats: 1 });
    const request = { [by]: loan[by] };
    for (const _ of [1, 2])
      expect(await success(server, 'returnLease', request)).toMatchObject({ returned: true });
    expect(await seatsOf(server.dataDir, loan.license.license_id)).toEqual({
      counted: { in_use: 0, borrowed: 0, queued: 0 },
      held: 0,
    });
    const names = (await eventsOf(server.dataDir, loan.license.license_id)).map(({ name }) => name);
    expect(names).toEqual(['pool.exhausted', 'lease.borrowed', 'lease.returned']);
  });

  it('is returned by a file that was issued after the license was shortened', async () => {
    const expires_at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString();
    const license = await newFloatingLicense(server, { seats: 1, borrow_max_hours: 100 });
    const { lease_token } = await lease(server, license);
    const loan = { lease_token, machine_fingerprint: newFingerprint() };
    await success(server, 'borrowLease', { ...loan, hours: 72 });
    await server.admin.renewLicense({ ref: license.license_key, expires_at: expires_at(1), shorten: true });
    await server.admin.updatePlan({ name: license.plan, grace_days: 0 });
    const { lease_file } = await success(server, 'borrowLease', { ...loan, hours: 1 });
    await success(server, 'returnLease', { lease_file });
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 0, borrowed: 0 },
      held: 0,
    });
  });

  it.each([
    ['as long', 1],
    ['longer', 5],
  ])('is returned by the first of its files after it was borrowed again for %s', async (_, hours) => {
    const loan = await borrowed({ seats: 1 });
    const { lease_token, machine_fingerprint, license, lease_file } = loan;
    await success(server, 'borrowLease', { lease_token, machine_fingerprint, hours });
    await success(server, 'returnLease', { lease_file });
    expect(await seatsOf(server.dataDir, license.license_id)).toEqual({
      counted: { in_use: 0, borrowed: 0, queued: 0 },
      held: 0,
    });
  });

  it('is not freed by a file of an earlier loan, of a lease or of a license', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const instance_id = newInstanceId();
    const borrow = async () => {
      const { lease_token } = await lease(server, license, { instance_id });
      const request = { lease_token, hours: 1, machine_fingerprint: newFingerprint() };
      return (await success(server, 'borrowLease', request)).lease_file as string;
    };
    const lease_file = await borrow();
    await success(server, 'returnLease', { lease_file });
    await borrow();
    await success(server, 'returnLease', { lease_file });
    const other = await lease(server, license);
    expectFailure(await server.post('/leases/return/', { lease_file: other.lease_file }), 'invalid_request');
    const { license_file } = await server.admin.issueLicenseFile({ license: license.license_key });
    expectFailure(await server.post('/leases/return/', { lease_file: license_file }), 'invalid_request');
    expectFailure(await server.post('/leases/return/', { lease_file: 'nonsense' }), 'invalid_request');
    expect((await seatsOf(server.dataDir, license.license_id)).counted).toMatchObject({
      in_use: 2,
      borrowed: 1,
    });
  });

  it.each([
    ['of another lease with its ID', 'token_invalid', 'issued_at = issued_at + 1'],
    ['of a loan to another device', 'invalid_request', "machine_fingerprint = 'sha256:other'"],
  ])('is not freed by a file from before a restore, %s', async (_, code, change) => {
    const { license, lease_file, lease: taken } = await borrowed({ seats: 1 });
    await writeRows(server.dataDir, `UPDATE leases SET ${change} WHERE id = ${taken.lease_id}`);
    expectFailure(await server.post('/leases/return/', { lease_file }), code);
    expect((await seatsOf(server.dataDir, license.license_id)).counted).toMatchObject({ borrowed: 1 });
  });

  it('can be extended on its device, and not moved to another', async () => {
    const { lease_token, machine_fingerprint, license } = await borrowed();
    const longer = await success(server, 'borrowLease', { lease_token, machine_fingerprint, hours: 3 });
    expect(longer.lease).toMatchObject({ expires_in: almost(3 * 3600) });
    const shorter = await success(server, 'borrowLease', { lease_token, machine_fingerprint, hours: 1 });
    // The file of three hours is still out there.
    expect(shorter.lease).toMatchObject({ expires_in: almost(3 * 3600) });
    const moved = { lease_token, machine_fingerprint: newFingerprint(), hours: 1 };
    expect((await server.post('/leases/borrow/', moved)).body.error_code).toBe('borrow_limit_reached');
    expect((await seatsOf(server.dataDir, license.license_id)).counted).toMatchObject({
      in_use: 1,
      borrowed: 1,
    });
  });

  it('counted by device is for the device that holds it', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device' });
    const [device, other] = [newFingerprint(), newFingerprint()];
    const { lease_token } = await lease(server, license, { machine_fingerprint: device });
    const request = { lease_token, hours: 1 };
    const refused = await server.post('/leases/borrow/', { ...request, machine_fingerprint: other });
    expectFailure(refused, 'invalid_request');
    expect(refused.body.details).toMatchObject([{ path: 'machine_fingerprint' }]);
    await success(server, 'borrowLease', { ...request, machine_fingerprint: device });
    expect((await checkOut(server, license, { machine_fingerprint: other })).status).toBe(409);
    const { pool } = await lease(server, license, { machine_fingerprint: device });
    expect(pool).toMatchObject({ in_use: 1, borrowed: 1 });
  });

  it('tells of a loan again only if it lasts longer', async () => {
    const loan = await borrowed({ seats: 2 }, { hours: 3 });
    const { lease_token, machine_fingerprint, license } = loan;
    const borrow = (hours: number) =>
      success(server, 'borrowLease', { lease_token, machine_fingerprint, hours });
    for (let time = 0; time < 10; time += 1) await borrow(1);
    await borrow(4);
    const told = (await eventsOf(server.dataDir, license.license_id)).map(({ name }) => name);
    expect(told).toEqual(['lease.borrowed', 'lease.borrowed']);
  });

  it.each([
    ['where borrowing is not allowed', { borrow_max_hours: 0 }, 1, 0],
    ['for too long', { borrow_max_hours: 8 }, 9, 0],
    ['beyond the number of loans', { borrow_max_count: 1 }, 1, 1],
    ['from the seats that are kept', { seats: 3, borrow_keep_free: 2 }, 1, 1],
  ])('is refused %s', async (_, plan, hours, before) => {
    const license = await newFloatingLicense(server, { seats: 3, ...plan });
    const borrow = async () => {
      const { lease_token } = await lease(server, license);
      return server.post('/leases/borrow/', { lease_token, hours, machine_fingerprint: newFingerprint() });
    };
    for (let loan = 0; loan < before; loan += 1) expect((await borrow()).status).toBe(200);
    const { status, body } = await borrow();
    expect([status, body.error_code]).toEqual([409, 'borrow_limit_reached']);
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([{ error_code: 'borrow_limit_reached', pool: { borrowed: before } }]);
  });

  it('can be an overdraft seat, unless seats are kept', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 1 });
    const borrow = async ({ lease_token }: { lease_token: string }) =>
      server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint: newFingerprint() });
    const [first, second] = [await lease(server, license), await lease(server, license)];
    expect((await borrow(first)).status).toBe(200);
    expect(second.lease.overdraft).toBe(true);
    await server.admin.updatePlan({ name: license.plan, borrow_keep_free: 1 });
    expect((await borrow(second)).body.error_code).toBe('borrow_limit_reached');
    await server.admin.updatePlan({ name: license.plan, borrow_keep_free: 0 });
    expect((await borrow(second)).body.lease).toMatchObject({ state: 'borrowed', overdraft: true });
  });

  it.each([
    ['the seats that are kept', { borrow_keep_free: 1 }],
    ['the number of loans', { borrow_max_count: 1 }],
  ])('that leases share counts once against %s, until the last is returned', async (_, limits) => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'user', ...limits });
    const seats = async () => (await seatsOf(server.dataDir, license.license_id)).counted;
    const borrow = async (user: string) => {
      const { lease_token } = await lease(server, license, { user });
      const request = { lease_token, hours: 1, machine_fingerprint: newFingerprint() };
      return { lease_token, ...(await server.post('/leases/borrow/', request)) };
    };
    const [laptop, desktop] = [await borrow('ada'), await borrow('ada')];
    expect([laptop.status, desktop.status]).toEqual([200, 200]);
    expect(await seats()).toMatchObject({ in_use: 1, borrowed: 1 });
    expect((await borrow('grace')).body.error_code).toBe('borrow_limit_reached');
    await success(server, 'returnLease', { lease_token: laptop.lease_token });
    expect(await seats()).toMatchObject({ in_use: 2, borrowed: 1 });
    await success(server, 'returnLease', { lease_token: desktop.lease_token });
    expect(await seats()).toMatchObject({ in_use: 1, borrowed: 0 });
    expect((await borrow('grace')).status).toBe(200);
  });

  it('that leases share counts with the most units that one of them lent', async () => {
    const license = await newFloatingLicense(server, { seats: 5, count_by: 'user' });
    const borrowedSeats = async () => (await seatsOf(server.dataDir, license.license_id)).counted.borrowed;
    const tokens: string[] = [];
    for (const [units, seats] of [
      [1, 1],
      [3, 3],
      [2, 3],
    ]) {
      const { lease_token } = await lease(server, license, { user: 'ada', units });
      tokens.push(lease_token);
      await success(server, 'borrowLease', { lease_token, hours: 1, machine_fingerprint: newFingerprint() });
      expect(await borrowedSeats()).toBe(seats);
    }
    await success(server, 'returnLease', { lease_token: tokens[1] });
    expect(await borrowedSeats()).toBe(2);
    // The others end together.
    await makeDue(server.dataDir, license.license_id);
    await eventually(async () => expect(await borrowedSeats()).toBe(0));
  });

  it('is freed by a reclaim, which its client learns', async () => {
    const { license, lease: checkedOut, lease_token } = await borrowed({ seats: 1 });
    const { lease_id } = checkedOut;
    const { lease: ended } = await server.admin.reclaimLease({ lease_id, reason: 'stolen' });
    expect(ended).toMatchObject({
      state: 'reclaimed',
      end_reason: 'reclaimed',
      end_note: 'stolen',
      expires_in: 0,
    });
    expect((await heartbeat(server, lease_token)).body).toMatchObject({ reason: 'reclaimed' });
    expect((await lease(server, license)).pool).toMatchObject({ in_use: 1, borrowed: 0 });
    await expect(server.admin.reclaimLease({ lease_id, reason: 'again' })).rejects.toMatchObject({
      code: 'lease_not_found',
    });
    const { items } = await server.admin.listAudit({ subject: `license:${license.license_id}` });
    expect(items[0]).toMatchObject({ action: 'lease.reclaimed' });
  });

  it('lingers after a release for its holder only', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const holder = { user: 'Ada', host: 'a' };
    const { lease_token } = await lease(server, license, holder);
    for (const _ of [1, 2]) await release(server, lease_token);
    expect((await heartbeat(server, lease_token)).body).toMatchObject({
      error_code: 'lease_gone',
      reason: 'released',
    });
    expect((await checkOut(server, license, { user: 'Grace', host: 'a' })).status).toBe(409);
    expect((await lease(server, license, { user: 'ada', host: 'A' })).pool.in_use).toBe(1);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 1 },
      held: 1,
    });
  });
});

describe('a lease file', () => {
  it('is verified by OpenSSL with the prefix lease/', async () => {
    const { lease_file } = await borrowed();
    const parsed = parseLicenseFile(lease_file);
    if (parsed.kind !== 'license_file') throw new Error(parsed.problem);
    const { enc, signature } = parsed.envelope;
    const key = await fileWith(await publicKey(), 'key.pem');
    const sig = await fileWith(signature, 'sig');
    const verify = async (prefix: string) =>
      execFileSync(
        'openssl',
        [
          'pkeyutl',
          '-verify',
          '-pubin',
          '-inkey',
          key,
          '-rawin',
          '-in',
          await fileWith(prefix + enc, 'data'),
        ].concat('-sigfile', sig),
        { encoding: 'utf8', stdio: 'pipe' },
      );
    expect(await verify('lease/')).toContain('Signature Verified Successfully');
    await expect(verify('license/')).rejects.toThrow();
  });

  it('is verified by the offline verifier for its hour, on its device only', async () => {
    const { lease_file, machine_fingerprint: fingerprint, license, loan } = await borrowed();
    const keys = parsePublicKeys(await publicKey());
    const now = Date.now();
    const verify = (options: object) => verifyLicenseFile(lease_file, { keys, now, fingerprint, ...options });
    expect(await verify({})).toMatchObject({
      valid: true,
      license: { license_key: license.license_key, licensing: 'floating' },
      lease: { state: 'borrowed', units: 1, expires_at: loan.expires_at },
      fileExpiresAt: Date.parse(loan.expires_at),
    });
    expect(await verify({ now: now + HOUR_MS })).toMatchObject({ valid: false, reason: 'file_expired' });
    expect(await verify({ fingerprint: newFingerprint() })).toMatchObject({ reason: 'machine_mismatch' });
    expect(await verify({ kind: 'license' })).toMatchObject({ reason: 'signature_invalid' });
  });

  it.each([false, true])('is not taken for a forged license file; encrypted: %s', async (encrypt) => {
    const { lease_file: license_file } = await borrowed({}, { encrypt });
    const problem =
      'This is a lease file: check it with license-desk verify, or its lease with /leases/heartbeat/.';
    const refused = await server.post('/validate-offline/', { license_file });
    expectFailure(refused, 'invalid_request');
    expect(refused.body.message).toBe(`license_file: ${problem}`);
    const explained = await server.admin.explainLicenseFile({ license_file });
    expect(explained).toMatchObject({ valid: false, reason: 'not_a_license_file' });
    expect(explained.rules).toContainEqual({ rule: 'format', outcome: 'failed', inputs: { problem } });
    expect(explained.rules.filter(({ outcome }) => outcome === 'failed')).toHaveLength(1);
  });

  it('is verified by the command', async () => {
    const { lease_file, machine_fingerprint } = await borrowed();
    const file = await fileWith(lease_file, 'lease.lic');
    const args = ['verify', file, '--public-key', await publicKey(), '--fingerprint', machine_fingerprint];
    const { exitCode, stdout } = await runCli([...args, '--json']);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ valid: true, lease: { state: 'borrowed' } });
    const later = new Date(Date.now() + HOUR_MS + 1000).toISOString();
    expect((await runCli([...args, '--now', later])).exitCode).not.toBe(0);
  });

  it('can be encrypted for its device', async () => {
    const { lease_file, machine_fingerprint, license } = await borrowed({}, { encrypt: true });
    const { license_key } = license;
    const keys = parsePublicKeys(await publicKey());
    const options = { keys, now: Date.now(), fingerprint: machine_fingerprint, licenseKey: license_key };
    expect(await verifyLicenseFile(lease_file, options)).toMatchObject({
      valid: true,
      lease: { state: 'borrowed' },
    });
    expectFailure(await server.post('/leases/return/', { lease_file }), 'invalid_request');
    await success(server, 'returnLease', { lease_file, license_key, machine_fingerprint });
    expect((await seatsOf(server.dataDir, license.license_id)).counted.borrowed).toBe(0);
    expectFailure(await checkOut(server, license, { encrypt: true }), 'invalid_request');
  });

  it('of a checkout is bound to the device that it names, and ends with the lease', async () => {
    const machine_fingerprint = newFingerprint();
    const license = await newFloatingLicense(server);
    const { lease_file, lease: taken } = await lease(server, license, { machine_fingerprint });
    const keys = parsePublicKeys(await publicKey());
    const file = await verifyLicenseFile(lease_file, {
      keys,
      now: Date.now(),
      fingerprint: machine_fingerprint,
    });
    expect(file).toMatchObject({ valid: true, lease: { state: 'active', lease_id: taken.lease_id } });
    expect(file.machine).toEqual({ fingerprint: machine_fingerprint });
  });

  it.each(['is repeated', 'waited in the queue'])(
    'of a checkout that %s is encrypted for the device that it names',
    async (way) => {
      const { license_key } = await newFloatingLicense(server, { seats: 1 });
      const request = { license_key, instance_id: newInstanceId() };
      if (way === 'is repeated') await lease(server, request, request);
      else {
        const { lease_token } = await lease(server, request);
        await queued(server, request, request);
        await release(server, lease_token);
      }
      const machine_fingerprint = newFingerprint();
      const { lease_file } = await lease(server, request, { ...request, machine_fingerprint, encrypt: true });
      const keys = parsePublicKeys(await publicKey());
      const options = { keys, now: Date.now(), fingerprint: machine_fingerprint };
      await expect(verifyLicenseFile(lease_file, options)).rejects.toThrow(/encrypted/u);
      const file = await verifyLicenseFile(lease_file, { ...options, licenseKey: license_key });
      expect(file).toMatchObject({ valid: true, machine: { fingerprint: machine_fingerprint } });
      // Without naming the device again, the lease keeps it.
      const later = await lease(server, request, request);
      expect(await verifyLicenseFile(later.lease_file, options)).toMatchObject({
        valid: true,
        machine: { fingerprint: machine_fingerprint },
      });
    },
  );

  it('of a seat counted by device is for no other device', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device' });
    const instance_id = newInstanceId();
    await lease(server, license, { instance_id, machine_fingerprint: newFingerprint() });
    const machine_fingerprint = newFingerprint();
    const refused = await checkOut(server, license, { instance_id, machine_fingerprint });
    expectFailure(refused, 'invalid_request');
    expect(refused.body.details).toMatchObject([{ path: 'machine_fingerprint' }]);
  });
});
