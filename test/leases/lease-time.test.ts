// Leases end by lease time, which neither a restart nor a changed clock moves.
import { rm } from 'node:fs/promises';
import os from 'node:os';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { newFloatingLicense } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import {
  almost,
  type Checkout,
  checkOut,
  heartbeat,
  lease,
  makeDue,
  passTime,
  release,
  seatsOf,
  untilLookedAt,
} from '../helpers/leases.ts';
import { createTestClock, type TestClock } from '../helpers/test-clock.ts';
import { newDataDir, startTestServer, type TestServer } from '../helpers/test-server.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

let clock: TestClock;
let dataDir: string;
let server: TestServer;

beforeEach(async () => {
  clock = createTestClock();
  dataDir = await newDataDir();
  server = await startTestServer({ dataDir, clock });
});
afterEach(async () => {
  await server.stop();
  await rm(dataDir, { recursive: true, force: true });
});

async function restart(downMs: number): Promise<void> {
  await server.stop();
  clock.advance(downMs);
  server = await startTestServer({ dataDir, clock });
}

async function takenSeats(count: number, plan: object = {}) {
  const license = await newFloatingLicense(server, { seats: count, ...plan });
  const taken: Checkout[] = [];
  for (let seat = 0; seat < count; seat += 1) taken.push(await lease(server, license));
  return { license, taken };
}

const statuses = async (taken: readonly Checkout[]) => {
  const replies = [];
  for (const { lease_token } of taken) replies.push((await heartbeat(server, lease_token)).status);
  return replies;
};

const inUse = async (licenseId: number) => (await seatsOf(dataDir, licenseId)).counted.in_use;

describe('without heartbeats', () => {
  it('a lease ends, and its seat is free', async () => {
    const { license, taken } = await takenSeats(2, { lease_seconds: 120 });
    await passTime(dataDir, 60_000);
    expect(await statuses(taken.slice(1))).toEqual([200]);
    await passTime(dataDir, 80_000);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(1));
    const { items } = await server.admin.listLeases({ license: license.license_key });
    expect(items.map(({ state, end_reason }) => [state, end_reason])).toEqual([
      ['active', null],
      ['expired', 'expired'],
    ]);
  });

  it('a late heartbeat revives the lease if its seat is still free', async () => {
    const { license, taken } = await takenSeats(1);
    await makeDue(dataDir, license.license_id);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(0));
    expect((await heartbeat(server, taken[0]!.lease_token)).body.lease).toMatchObject({
      state: 'active',
      expires_in: almost(600),
      lease_id: taken[0]!.lease.lease_id,
    });
    expect(await seatsOf(dataDir, license.license_id)).toMatchObject({ counted: { in_use: 1 }, held: 1 });
    await makeDue(dataDir, license.license_id);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(0));
    await lease(server, license);
    const { status, body } = await heartbeat(server, taken[0]!.lease_token);
    expect([status, body]).toMatchObject([410, { error_code: 'lease_gone', reason: 'expired' }]);
  });

  it('many leases end in bounded batches, and the counter stays right', async () => {
    const license = await newFloatingLicense(server, { seats: 1000, count_by: 'user' });
    await Promise.all(
      Array.from({ length: 450 }, (_, turn) => lease(server, license, { user: `user-${turn % 300}` })),
    );
    expect(await seatsOf(dataDir, license.license_id)).toMatchObject({ counted: { in_use: 300 }, held: 300 });
    await makeDue(dataDir, license.license_id, 'AND id % 3 > 0');
    await eventually(async () => {
      const { counted, held } = await seatsOf(dataDir, license.license_id);
      const [{ live }] = await selectRows(
        dataDir,
        'SELECT count(*) AS live FROM leases WHERE ended_at IS NULL',
      );
      expect([live, counted.in_use]).toEqual([150, held]);
    });
  });
});

describe('heartbeats', () => {
  it('reach the disk by themselves, many with one statement', async () => {
    const { taken } = await takenSeats(3, { lease_seconds: 90 });
    await writeRows(dataDir, 'UPDATE leases SET due_at = due_at - 50000');
    const due = async () =>
      (await selectRows(dataDir, 'SELECT due_at FROM leases')).map((row) => row.due_at as number);
    const before = await due();
    await server.post('/leases/heartbeat/', { leases: taken.map(({ lease_token }) => lease_token) });
    await eventually(async () =>
      expect((await due()).every((at, index) => at > before[index]! + 40_000)).toBe(true),
    );
  });
});

describe('nobody is evicted', () => {
  it('by five minutes of downtime, or by a day', async () => {
    const { license, taken } = await takenSeats(3, { lease_seconds: 60 });
    await restart(5 * MINUTE_MS);
    await untilLookedAt(dataDir);
    expect(await statuses(taken)).toEqual([200, 200, 200]);
    await restart(24 * HOUR_MS);
    await untilLookedAt(dataDir);
    expect(await inUse(license.license_id)).toBe(3);
    expect(await statuses(taken)).toEqual([200, 200, 200]);
  });

  it('and a restart gives no lease more than its length', async () => {
    const { license } = await takenSeats(1, { lease_seconds: 60 });
    await restart(HOUR_MS);
    const [item] = (await server.admin.listLeases({ license: license.license_key })).items;
    expect(item!.expires_in).toBeGreaterThan(0);
    expect(item!.expires_in).toBeLessThanOrEqual(60);
    await passTime(dataDir, 70_000);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(0));
  });

  it.each([
    ['ahead', HOUR_MS],
    ['back', -HOUR_MS],
  ])('by the server’s clock when it is set %s by an hour', async (_, ms) => {
    const { license, taken } = await takenSeats(3, { lease_seconds: 60 });
    clock.advance(ms);
    await untilLookedAt(dataDir);
    expect(await inUse(license.license_id)).toBe(3);
    const { body } = await heartbeat(server, taken[0]!.lease_token);
    expect(body.lease.expires_in).toBe(60);
    expect(Date.parse(body.lease.expires_at as string) - clock.now()).toBeLessThanOrEqual(60_000);
    await restart(ms);
    await untilLookedAt(dataDir);
    expect(await statuses(taken)).toEqual([200, 200, 200]);
  });

  it('and a borrowed seat still ends with its file, although the server was down', async () => {
    const { license, taken } = await takenSeats(2, { borrow_max_hours: 48 });
    const { lease_token } = taken[0]!;
    const machine_fingerprint = `sha256:${'a'.repeat(64)}`;
    await server.post('/leases/borrow/', { lease_token, hours: 24, machine_fingerprint });
    await restart(23 * HOUR_MS);
    expect((await heartbeat(server, lease_token)).body.lease).toMatchObject({
      state: 'borrowed',
      expires_in: 3600,
    });
    await restart(2 * HOUR_MS);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(1));
    expect(await statuses(taken)).toEqual([410, 200]);
  });

  it('and a borrowed seat ends with its file, although the clock was ahead at a start', async () => {
    const { license, taken } = await takenSeats(2, { borrow_max_hours: 48 });
    const { lease_token } = taken[0]!;
    const machine_fingerprint = `sha256:${'a'.repeat(64)}`;
    await server.post('/leases/borrow/', { lease_token, hours: 24, machine_fingerprint });
    await restart(2 * HOUR_MS);
    await untilLookedAt(dataDir);
    clock.advance(-2 * HOUR_MS);
    await passTime(dataDir, 23 * HOUR_MS);
    clock.advance(23 * HOUR_MS);
    await untilLookedAt(dataDir);
    expect((await heartbeat(server, lease_token)).body.lease).toMatchObject({
      state: 'borrowed',
      expires_in: 3600,
    });
    clock.advance(HOUR_MS);
    await eventually(async () =>
      expect((await seatsOf(dataDir, license.license_id)).counted.borrowed).toBe(0),
    );
    expect((await heartbeat(server, lease_token)).body).toMatchObject({ reason: 'returned' });
  });

  it('and a borrowed seat ends with its file although the machine slept, but not because its clock was set', async () => {
    const { license, taken } = await takenSeats(2, { borrow_max_hours: 48 });
    const { lease_token } = taken[0]!;
    const machine_fingerprint = `sha256:${'a'.repeat(64)}`;
    await server.post('/leases/borrow/', { lease_token, hours: 1, machine_fingerprint });
    // Stands still, so that a slow test machine does not pass for one that slept.
    const sinceStart = os.uptime();
    const uptime = vi.spyOn(os, 'uptime').mockReturnValue(sinceStart);
    onTestFinished(() => uptime.mockRestore());
    await untilLookedAt(dataDir);
    clock.advance(2 * HOUR_MS);
    await untilLookedAt(dataDir);
    expect(await inUse(license.license_id)).toBe(2);
    uptime.mockReturnValue(sinceStart + 2 * 3600);
    await eventually(async () => expect(await inUse(license.license_id)).toBe(1));
    expect(await statuses(taken)).toEqual([410, 200]);
  });
});

it('the clock of a client cannot matter: no request has a time', async () => {
  const license = await newFloatingLicense(server, { seats: 1 });
  const { lease_token } = await lease(server, license, { expires_at: '2099-01-01T00:00:00Z', now: 0 });
  const beat = { lease_token, expires_at: '2099-01-01T00:00:00Z', expires_in: 1e9 };
  expect((await server.post('/leases/heartbeat/', beat)).body.lease.expires_in).toBe(600);
  expect((await checkOut(server, license)).status).toBe(409);
  await release(server, lease_token);
});
