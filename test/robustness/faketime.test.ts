// The whole server by another clock: notices over months, downtime, and a clock that jumps.
import { describe, expect, it } from 'vitest';
import { selectRows } from '../helpers/database.ts';
import { daysAhead, hasFaketime, movableClock } from '../helpers/faketime.ts';
import { longTest } from '../helpers/long-test.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

if (!hasFaketime())
  process.stderr.write('faketime.test.ts is skipped: there is no `faketime` (apt install faketime)\n');

async function noticesOf(dataDir: string, licenseId: number): Promise<string[]> {
  const rows = await selectRows(
    dataDir,
    `SELECT name, term FROM events WHERE license_id = ${licenseId} AND term IS NOT NULL ORDER BY id`,
  );
  return rows.map(({ name, term }) => `${name} ${term}`);
}

/** Waits for a scan that began after now. */
async function nextScan(server: ServerProcess): Promise<void> {
  const scan = { msg: 'job done', job: 'license-scan' };
  const scans = await server.logLines(scan, 0);
  // The first one to end may have read the clock already.
  await server.logLines(scan, scans.length + 2);
}

describe.skipIf(!hasFaketime())('under faketime', () => {
  it('tells once per term that a license is expiring, in grace and expired, however often it is restarted', async () => {
    const dataDir = temporaryDirectory();
    let licenseId = 0;
    /** Runs a server at that day until it has scanned. */
    const runOn = async (day: number, work: (server: ServerProcess) => Promise<void> = async () => {}) => {
      const flags = { 'scan-seconds': '0.2' };
      const server = await startServerProcess({ dataDir, prefix: daysAhead(day), flags });
      await server.logLines({ msg: 'job done', job: 'license-scan' });
      await work(server);
      expect((await server.kill()).code).toBe(0);
      return licenseId === 0 ? [] : noticesOf(dataDir, licenseId);
    };
    await runOn(0, async ({ admin }) => {
      const { license } = await admin.createLicense({ holder: 'Aging', days: 12 });
      licenseId = license.license_id;
    });
    const expiring = ['license.expiring 1'];
    const inGrace = [...expiring, 'license.in_grace 1'];
    const expired = [...inGrace, 'license.expired 1'];
    expect(await runOn(1)).toEqual([]);
    expect(await runOn(7)).toEqual(expiring);
    const [event] = await selectRows(dataDir, `SELECT body FROM events WHERE license_id = ${licenseId}`);
    // Twelve days less seven and the time that this test has taken.
    expect(JSON.parse(event.body as string)).toMatchObject({ event: 'license.expiring', days_left: 4 });
    expect(await runOn(8)).toEqual(expiring);
    expect(await runOn(13)).toEqual(inGrace);
    expect(await runOn(14)).toEqual(inGrace);
    expect(await runOn(27)).toEqual(expired);
    await runOn(28, async ({ admin }) => {
      const { license } = await admin.renewLicense({ ref: String(licenseId), days: 10 });
      expect(license.state).toBe('issued');
    });
    // Ten days from the renewal on day 28, of which no notice was given until the grace period had passed.
    expect(await runOn(60)).toEqual([...expired, 'license.expired 2']);
    expect(await runOn(400)).toEqual([...expired, 'license.expired 2']);
  });

  longTest('keeps running when the clock jumps back and forth', async () => {
    const dataDir = temporaryDirectory();
    const clock = movableClock();
    const server = await startServerProcess({
      dataDir,
      prefix: clock.prefix,
      flags: { 'scan-seconds': '0.2' },
    });
    const { license } = await server.admin.createLicense({ holder: 'Jumpy', days: 12, plan: 'professional' });
    const ref = license.license_key;
    const stateNow = async () => (await server.admin.showLicense({ ref })).license.state;
    const machine_fingerprint = fingerprintOf(1);

    clock.set(5.5);
    // A scan that was under way stops; the next ones wait until the jump is confirmed.
    await server.logLines({ msg: 'the clock is trusted again' });
    await server.post('/activate/', { license_key: ref, machine_fingerprint });
    const { token } = await server.admin.issueToken({ license: ref });
    await nextScan(server);
    expect(await stateNow()).toBe('expiring');
    expect(await noticesOf(dataDir, license.license_id)).toEqual(['license.expiring 1']);

    clock.set(4.5);
    await nextScan(server);
    expect(await stateNow()).toBe('active');
    expect((await server.get('/health/')).status).toBe(200);
    expect((await server.post('/authorize/token/', { token })).body.valid).toBe(true);
    const { device } = await server.admin.releaseDevice({ ref, machine_fingerprint });
    expect(Date.parse(device.released_at as string)).toBeGreaterThanOrEqual(Date.parse(device.activated_at));
    expect((await server.post('/activate/', { license_key: ref, machine_fingerprint })).status).toBe(200);
    const successor = await server.admin.issueToken({ license: ref });
    expect(successor.replaced?.state).toBe('replaced');
    expect((await server.post('/authorize/token/', { token })).status).toBe(401);
    await server.admin.renewLicense({ ref, expires_at: license.expires_at });

    clock.set(5.5);
    await nextScan(server);
    clock.set(4.5);
    await nextScan(server);
    clock.set(5.45);
    await nextScan(server);
    // The renewal began a new term, which has one notice as well.
    expect(await noticesOf(dataDir, license.license_id)).toEqual([
      'license.expiring 1',
      'license.expiring 2',
    ]);
    expect((await server.logLines({ level: 50 }, 0)).length).toBe(0);
    expect((await server.kill()).code).toBe(0);
  });

  longTest('sends no notice while the clock is years ahead for a moment', async () => {
    const dataDir = temporaryDirectory();
    const clock = movableClock();
    const flags = { 'scan-seconds': '1' };
    const server = await startServerProcess({ dataDir, prefix: clock.prefix, flags });
    const { license } = await server.admin.createLicense({ holder: 'Steady', days: 30 });
    await nextScan(server);
    clock.set(5 * 365);
    await server.logLines({ msg: 'the clock jumped ahead; notices are on hold until it is confirmed' });
    const { alerts } = await server.admin.listAlerts({});
    expect(alerts).toMatchObject([{ code: 'clock_jumped', severity: 'critical', params: { hours: 43_800 } }]);
    clock.set(0);
    await server.logLines({ msg: 'the clock is trusted again' });
    await nextScan(server);
    expect((await server.admin.listAlerts({})).alerts).toEqual([]);
    expect(await noticesOf(dataDir, license.license_id)).toEqual([]);
    clock.set(24);
    await server.logLines({ msg: 'the clock jumped ahead; notices are on hold until it is confirmed' }, 2);
    await server.logLines({ msg: 'the clock is trusted again' }, 2);
    await server.logLines({ msg: 'job done', job: 'license-scan', emitted: 1 });
    expect(await noticesOf(dataDir, license.license_id)).toEqual(['license.expiring 1']);
    expect((await server.kill()).code).toBe(0);
  });

  it('carries out a repeated call once although the clock is days ahead for a moment', async () => {
    const clock = movableClock();
    const server = await startServerProcess({ dataDir: temporaryDirectory(), prefix: clock.prefix });
    const { license } = await server.admin.createLicense({ holder: 'Once', days: 30 });
    const { api_token } = await server.admin.createApiToken({ name: 'repeating', role: 'admin' });
    const headers = { authorization: `Bearer ${api_token}`, 'idempotency-key': 'order-1' };
    const renew = () => server.post('/renew/', { license_key: license.license_key, days: 30 }, headers);
    const first = await renew();
    expect(first.status).toBe(200);
    for (const days of [2, 0]) {
      clock.set(days);
      expect([days, (await renew()).body]).toEqual([days, first.body]);
    }
    expect((await server.kill()).code).toBe(0);
  });

  it('replaces no valid license file while the clock is weeks ahead for a moment', async () => {
    const clock = movableClock();
    const server = await startServerProcess({ dataDir: temporaryDirectory(), prefix: clock.prefix });
    const { license } = await server.admin.createLicense({ holder: 'Ahead', days: 90 });
    const { license_key } = license;
    const activation = await server.post('/activate/', {
      license_key,
      machine_fingerprint: fingerprintOf(1),
    });
    const { license_file } = activation.body;
    await server.admin.renewLicense({ ref: license_key, days: 30 });
    const validate = async () => (await server.post('/validate-offline/', { license_file })).body;
    clock.set(31);
    const held = await validate();
    expect(held).toMatchObject({ valid: true, reason: null });
    expect(held).not.toHaveProperty('license_file');
    clock.set(0);
    expect(await validate()).toMatchObject({ valid: true, license_file: expect.any(String) });
    expect((await server.kill()).code).toBe(0);
  });

  it('starts a day before it was last stopped', async () => {
    const dataDir = temporaryDirectory();
    const first = await startServerProcess({ dataDir, prefix: daysAhead(10) });
    const { license } = await first.admin.createLicense({ holder: 'Early', plan: 'professional' });
    const request = { license_key: license.license_key, machine_fingerprint: fingerprintOf(1) };
    const { body } = await first.post('/activate/', request);
    expect((await first.kill()).code).toBe(0);

    const second = await startServerProcess({ dataDir, prefix: daysAhead(9) });
    const again = await second.post('/activate/', request);
    expect(again.body.activation).toEqual(body.activation);
    const { license_file } = body;
    const validation = await second.post('/validate-offline/', { license_file });
    expect(validation.body).toMatchObject({ valid: false, reason: 'not_yet_valid' });
    const replaced = await second.post('/validate-offline/', { license_file: validation.body.license_file });
    expect(replaced.body).toMatchObject({ valid: true });
    const { device } = await second.admin.releaseDevice({ ref: request.license_key, ...request });
    expect(device.released_at).toBe(device.activated_at);
    expect((await second.kill()).code).toBe(0);
  });
});
