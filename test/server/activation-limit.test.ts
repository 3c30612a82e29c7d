// New devices are limited per license key; a sudden growth of one license raises an alert.
import { rm } from 'node:fs/promises';
import { afterEach, describe, expect, it } from 'vitest';
import type { Clock } from '#server/platform/clock.ts';
import { formatMachineRequest } from '../../verifier/machine-request.ts';
import { atOnce } from '../helpers/at-once.ts';
import { newFingerprint, newLicense } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { newDataDir, type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

let server: TestServer | undefined;

afterEach(async () => {
  await server?.stop();
  server = undefined;
});

async function start(
  flags: Record<string, string>,
  options: { clock?: Clock; dataDir?: string } = {},
): Promise<TestServer> {
  server = await startTestServer({ flags, ...options });
  return server;
}

const activate = (licenseKey: string, fingerprint = newFingerprint()): Promise<Reply> =>
  server!.post('/activate/', { license_key: licenseKey, machine_fingerprint: fingerprint });

const countOf = (replies: readonly Reply[], status: number) =>
  replies.filter((reply) => reply.status === status).length;

describe('--rate-limit-activations 3', () => {
  const flags = { 'rate-limit-activations': '3' };

  it('refuses the fourth new device of a license within a minute', async () => {
    const clock = createTestClock();
    await start(flags, { clock });
    const { license_key } = await newLicense(server!, { plan: 'enterprise' });
    for (let device = 0; device < 3; device += 1) expect((await activate(license_key)).status).toBe(200);
    clock.advance(59_000);
    const refused = await activate(license_key);
    expectFailure(refused, 'rate_limited');
    expect(refused.headers.get('retry-after')).toBe('1');
    expect(refused.headers.get('ratelimit-policy')).toBe('3;w=60');
    expect(refused.headers.get('ratelimit-limit')).toBe('3');
    expect(refused.headers.get('ratelimit-remaining')).toBe('0');
    clock.advance(1000);
    expect((await activate(license_key)).status).toBe(200);
  });

  it('never counts a device that is already active, nor any read', async () => {
    await start(flags);
    const { license_key } = await newLicense(server!, { plan: 'enterprise' });
    const devices = [newFingerprint(), newFingerprint(), newFingerprint()];
    for (const device of devices) expect((await activate(license_key, device)).status).toBe(200);
    const again = await atOnce(30, (number) => activate(license_key, devices[number % 3]));
    expect(countOf(again, 200)).toBe(30);
    const reads = await atOnce(10, () => server!.post('/authorize/', { license_key }));
    expect(countOf(reads, 200)).toBe(10);
    expectFailure(await activate(license_key), 'rate_limited');
  });

  it('admits exactly three of many concurrent new devices', async () => {
    await start(flags);
    const { license_key } = await newLicense(server!, { plan: 'enterprise' });
    const replies = await atOnce(30, () => activate(license_key));
    expect(countOf(replies, 200)).toBe(3);
    expect(countOf(replies, 429)).toBe(27);
    const { items } = await server!.admin.listDevices({ ref: license_key });
    expect(items).toHaveLength(3);
  });

  it('counts a device once, however often it calls at once', async () => {
    await start(flags);
    const { license_key } = await newLicense(server!, { plan: 'enterprise' });
    const device = newFingerprint();
    expect(countOf(await atOnce(30, () => activate(license_key, device)), 200)).toBe(30);
    const others = await atOnce(5, () => activate(license_key));
    expect(countOf(others, 200)).toBe(2);
  });

  it('does not count activations that fail', async () => {
    await start(flags);
    const { license_key } = await newLicense(server!, { plan: 'standard' });
    const replies = await atOnce(20, () => activate(license_key));
    expect(countOf(replies, 200)).toBe(1);
    for (let call = 0; call < 5; call += 1)
      expectFailure(await activate(license_key), 'activation_limit_reached');
  });

  it('counts each license for itself, and not what an administrator activates', async () => {
    await start(flags);
    const one = await newLicense(server!, { plan: 'enterprise' });
    const other = await newLicense(server!, { plan: 'enterprise' });
    expect(countOf(await atOnce(4, () => activate(one.license_key)), 200)).toBe(3);
    expect(countOf(await atOnce(3, () => activate(other.license_key)), 200)).toBe(3);
    const request = formatMachineRequest({
      licenseKey: one.license_key,
      fingerprint: newFingerprint(),
      nonce: 'n',
      issuedAt: Date.now(),
    });
    expect((await server!.admin.activateOffline({ request })).activation.id).toBeGreaterThan(0);
  });
});

it('allows 120 new devices a minute by default', async () => {
  await start({ 'rate-limit': '60' });
  const { license_key } = await newLicense(server!, { plan: 'enterprise' });
  const replies = await atOnce(125, () => activate(license_key));
  expect(countOf(replies, 200)).toBe(120);
  expect(countOf(replies, 429)).toBe(5);
});

describe('a license that gains unusually many devices', () => {
  const surges = async () =>
    (await server!.admin.listAlerts({})).alerts.filter(({ code }) => code === 'device_surge');
  const untilSurges = (count: number) =>
    eventually(async () => {
      const alerts = await surges();
      expect(alerts).toHaveLength(count);
      return alerts;
    });

  it('raises one alert, also after a restart, and none an hour later', async () => {
    const clock = createTestClock();
    const dataDir = await newDataDir();
    await start({}, { clock, dataDir });
    const { license_key, license_id } = await newLicense(server!, { plan: 'enterprise', holder: 'Acme Ltd' });
    const quiet = await newLicense(server!, { plan: 'enterprise' });
    await atOnce(100, () => activate(quiet.license_key));
    await atOnce(101, () => activate(license_key));
    const [alert] = await untilSurges(1);
    const groups = license_key.split('-');
    expect(alert).toMatchObject({
      severity: 'warning',
      subject: `${groups[0]}-…-${groups[4]} (Acme Ltd)`,
      params: { count: 101, minutes: 60, license_id },
    });
    await atOnce(50, () => activate(license_key));
    await eventually(async () => expect((await surges())[0]?.params['count']).toBe(151));
    expect(await surges()).toHaveLength(1);

    await server!.stop();
    await start({}, { clock, dataDir });
    await untilSurges(1);
    clock.advance(3_600_001);
    await untilSurges(0);
    await server!.stop();
    server = undefined;
    await rm(dataDir, { recursive: true });
  });
});
