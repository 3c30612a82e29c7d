// Wrong clocks of a real server and of its clients, by `faketime`: no lease ends, and no client notices.
import { describe, expect, it } from 'vitest';
import { spawnCli } from '../helpers/cli.ts';
import { unique } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { daysAhead, hasFaketime, movableClock } from '../helpers/faketime.ts';
import { type Checkout, checkOut, heartbeat, release, seatsOf } from '../helpers/leases.ts';
import { firstOrAll } from '../helpers/long-lane.ts';
import { longTest } from '../helpers/long-test.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const HOUR_IN_DAYS = 1 / 24;
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const SEATS = 3;
const why = hasFaketime() ? '' : ' (skipped: Debian package faketime is not installed)';

async function newLicense(server: ServerProcess) {
  const name = unique('clocks');
  const terms = { seats: SEATS, lease_seconds: 60, borrow_max_hours: 24 };
  await server.admin.createPlan({ name, licensing: 'floating', ...terms });
  return (await server.admin.createLicense({ holder: 'Time traveler', plan: name, days: 10 })).license;
}

/** Until the job has looked at the leases three times. */
async function untilLookedAt(dataDir: string): Promise<void> {
  const leaseTime = async () =>
    (await selectRows(dataDir, 'SELECT seen_at FROM lease_clock'))[0].seen_at as number;
  for (let look = 0; look < 3; look += 1) {
    const before = await leaseTime();
    await eventually(async () => expect(await leaseTime()).not.toBe(before));
  }
}

describe.skipIf(!hasFaketime())(`wrong clocks${why}`, () => {
  longTest(
    'of a server, an hour ahead or behind, while it runs and while it is down, end no lease',
    async () => {
      const clock = movableClock();
      const dataDir = temporaryDirectory();
      const options = { dataDir, prefix: clock.prefix };
      let server = await startServerProcess(options);
      const license = await newLicense(server);
      const taken: Checkout[] = [];
      for (let seat = 0; seat < SEATS; seat += 1)
        taken.push((await checkOut(server, license)).body as Checkout);
      const expectAllHeld = async () => {
        await untilLookedAt(dataDir);
        expect(await seatsOf(dataDir, license.license_id)).toMatchObject({ held: SEATS });
        for (const { lease_token } of taken) {
          const { status, body } = await heartbeat(server, lease_token);
          expect([status, body.lease?.state, body.lease?.expires_in]).toEqual([200, 'active', 60]);
        }
      };
      for (const days of [HOUR_IN_DAYS, 0, -HOUR_IN_DAYS, 0]) {
        clock.set(days);
        await expectAllHeld();
      }
      for (const days of [HOUR_IN_DAYS, -HOUR_IN_DAYS]) {
        expect((await server.kill()).code).toBe(0);
        clock.set(days);
        server = await startServerProcess(options);
        await expectAllHeld();
      }
      expect((await server.kill()).code).toBe(0);
    },
  );

  it('of a server, a year ahead for a moment, ends no lease whose license expires meanwhile', async () => {
    const clock = movableClock();
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir, prefix: clock.prefix });
    const license = await newLicense(server);
    const taken: Checkout[] = [];
    for (const days of [0, 400, 0]) {
      clock.set(days);
      for (const { lease_token } of taken) {
        const { status, body } = await heartbeat(server, lease_token);
        expect([days, status, body.lease?.state]).toEqual([days, 200, 'active']);
        // It would be over at once.
        const loan = { lease_token, hours: 1, machine_fingerprint: `sha256:${'a'.repeat(64)}` };
        if (days > 0) expect((await server.post('/leases/borrow/', loan)).status).toBe(410);
      }
      if (days === 0) taken.push((await checkOut(server, license)).body as Checkout);
    }
    expect((await server.kill()).code).toBe(0);
  });

  it('of a server, two days ahead for a moment, count no seats for these days', async () => {
    const clock = movableClock();
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir, prefix: clock.prefix });
    const license = await newLicense(server);
    await checkOut(server, license);
    clock.set(2);
    await checkOut(server, license);
    await untilLookedAt(dataDir);
    clock.set(0);
    await checkOut(server, license);
    const to = new Date(Date.now() + 3 * DAY_MS).toISOString();
    const { hours } = await server.admin.leaseUsage({ license: license.license_key, to });
    expect(hours.filter(({ hour }) => Date.parse(hour) > Date.now())).toEqual([]);
    expect(hours.at(-1)).toMatchObject({ peak: 3 });
    expect((await server.kill()).code).toBe(0);
  });

  it('of a server, two days ahead for a moment, count use and refusals of an idle pool for the hour that it is', async () => {
    const clock = movableClock();
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir, prefix: clock.prefix });
    const license = await newLicense(server);
    const { license_id, license_key } = license;
    await release(server, ((await checkOut(server, license)).body as Checkout).lease_token);
    await writeRows(
      dataDir,
      `UPDATE lease_pools SET metered_at = metered_at - ${20 * DAY_MS} WHERE license_id = ${license_id}`,
    );
    const start = Date.now();
    clock.set(2);
    for (let seat = 0; seat < SEATS; seat += 1) await checkOut(server, license);
    expect((await checkOut(server, license)).status).toBe(409);
    // Writes the refusal.
    await server.admin.listLeaseDenials({ license: license_key });
    await untilLookedAt(dataDir);
    clock.set(0);
    expect((await checkOut(server, license)).status).toBe(409);
    const { hours } = await server.admin.leaseUsage({
      license: license_key,
      from: new Date(start - 21 * DAY_MS).toISOString(),
      to: new Date(start + 3 * DAY_MS).toISOString(),
    });
    // An hour may end meanwhile.
    for (const { hour } of hours) {
      expect(Date.parse(hour)).toBeGreaterThan(start - HOUR_MS);
      expect(Date.parse(hour)).toBeLessThanOrEqual(Date.now());
    }
    expect(hours.at(-1)).toMatchObject({ peak: SEATS });
    expect(hours.reduce((sum, { denied }) => sum + denied, 0)).toBe(2);
    expect((await server.kill()).code).toBe(0);
  });

  longTest(
    'of a server, days behind at a start, keeps no borrowed seat beyond its file once it is corrected',
    async () => {
      const clock = movableClock();
      const dataDir = temporaryDirectory();
      clock.set(-3);
      const options = { dataDir, prefix: clock.prefix, flags: { 'scan-seconds': '0.2' } };
      let server = await startServerProcess(options);
      const license = await newLicense(server);
      const { lease_token } = (await checkOut(server, license)).body as Checkout;
      const machine_fingerprint = fingerprintOf(1);
      await server.post('/leases/borrow/', { lease_token, hours: 24, machine_fingerprint });
      expect((await server.kill()).code).toBe(0);
      server = await startServerProcess(options);
      expect((await heartbeat(server, lease_token)).body.lease).toMatchObject({ state: 'borrowed' });
      clock.set(0);
      await server.logLines({ msg: 'the clock is trusted again' });
      await eventually(async () =>
        expect(await seatsOf(dataDir, license.license_id)).toMatchObject({ held: 0 }),
      );
      expect((await heartbeat(server, lease_token)).body).toMatchObject({ reason: 'returned' });
      expect((await server.kill()).code).toBe(0);
    },
  );

  it.each(firstOrAll(1, [1, -1]))('of a client, off by %i day, make no difference', async (days) => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    const license = await newLicense(server);
    const words = ['lease', 'run', '--server', new URL(server.api).origin, '--', process.execPath, '-e', ''];
    const env = { LICENSE_DESK_LICENSE_KEY: license.license_key };
    const run = await spawnCli(words, { env, prefix: daysAhead(days) });
    expect(run).toMatchObject({ exitCode: 0 });
    const { items } = await server.admin.listLeases({ license: license.license_key });
    expect(items.map(({ state, end_reason }) => [state, end_reason])).toEqual([['released', 'released']]);
    expect(Math.abs(Date.parse(items[0]!.issued_at) - Date.now())).toBeLessThan(12 * 3_600_000);
    expect((await server.kill()).code).toBe(0);
  });
});
