import { describe, expect, it } from 'vitest';
import { cliOn } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { fingerprintOf, type TestServer } from '../helpers/test-server.ts';
import { newFloatingLicense, newInstanceId } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import {
  type Checkout,
  checkOut,
  heartbeat,
  keepPlaces,
  lease,
  makeDue,
  passTime,
  queued,
  release,
  untilLookedAt,
} from '../helpers/leases.ts';
import { eventsOf } from '../helpers/outbox.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';

const HOUR_MS = 3_600_000;
const clock = sharedClock(Date.UTC(2035, 0, 1, 12));
const server: TestServer = sharedServer({ clock });

async function namesOf(licenseId: number): Promise<string[]> {
  return (await eventsOf(server.dataDir, licenseId)).map(({ name }) => name);
}

/** Until these are the events of a license. */
function untilEvents(licenseId: number, names: string[]): Promise<void> {
  return eventually(async () => expect(await namesOf(licenseId)).toEqual(names));
}

describe('a refusal', () => {
  it('is on record with who asked, the pool and who held it', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    const { lease_id } = (await lease(server, license, { user: 'Ada', host: 'a', units: 2 })).lease;
    const asking = { user: 'Grace', host: 'b', units: 1, machine_fingerprint: fingerprintOf(7) };
    expect((await checkOut(server, license, asking)).status).toBe(409);
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([
      {
        ...asking,
        license_id: license.license_id,
        error_code: 'no_seat_available',
        rule: null,
        address: '127.0.0.1',
        pool: { total: 2, in_use: 2, available: 0, queued: 0 },
        holders: [{ lease_id, user: 'Ada', host: 'a', units: 2, state: 'active' }],
        holder_count: 1,
      },
    ]);
    expect((await server.admin.listLeaseDenials({ user: 'grace' })).items).toHaveLength(1);
  });

  it('reaches the disk without being asked for, each of many', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    const replies = await Promise.all(Array.from({ length: 60 }, () => checkOut(server, license)));
    expect(replies.every(({ status }) => status === 409)).toBe(true);
    const stored = async () =>
      (
        await selectRows(
          server.dataDir,
          `SELECT id FROM lease_denials WHERE license_id = ${license.license_id}`,
        )
      ).length;
    await eventually(async () => expect(await stored()).toBe(60));
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key, limit: 500 });
    expect(items).toHaveLength(60);
  });

  it('is described with the holders at the time', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    for (const user of ['ada', 'grace']) {
      const { lease_token } = await lease(server, license, { user });
      await checkOut(server, license, { user: 'alan' });
      await release(server, lease_token);
    }
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items.map(({ holders }) => holders.map(({ user }) => user))).toEqual([['grace'], ['ada']]);
  });

  async function holdersAtDenials({ license_key: license }: { license_key: string }) {
    const { items } = await server.admin.listLeaseDenials({ license });
    return items.map(({ holders }) => holders.map(({ user, state }) => `${user} ${state}`));
  }

  it('names a holder that joined a shared seat, and one that came back to it', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'user' });
    await lease(server, license, { user: 'ada' });
    await checkOut(server, license, { user: 'alan' });
    const joined = await lease(server, license, { user: 'ada' });
    await checkOut(server, license, { user: 'alan' });
    const ended = async () => {
      const { items } = await server.admin.listLeases({ license: license.license_key, state: 'expired' });
      expect(items).toHaveLength(1);
    };
    await makeDue(server.dataDir, license.license_id, `AND id = ${joined.lease.lease_id}`);
    await eventually(ended);
    await checkOut(server, license, { user: 'alan' });
    expect((await heartbeat(server, joined.lease_token)).status).toBe(200);
    await checkOut(server, license, { user: 'alan' });
    const [one, two] = [['ada active'], ['ada active', 'ada active']];
    expect(await holdersAtDenials(license)).toEqual([two, one, two, one]);
  });

  it('names a released seat as lingering', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 3600 });
    const { lease_token } = await lease(server, license, { user: 'ada' });
    await checkOut(server, license, { user: 'alan' });
    await release(server, lease_token);
    await checkOut(server, license, { user: 'alan' });
    expect(await holdersAtDenials(license)).toEqual([['ada lingering'], ['ada active']]);
  });

  it('names a lingering seat as active again once its instance has come back', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 3600 });
    const ada = { user: 'ada', instance_id: newInstanceId() };
    await release(server, (await lease(server, license, ada)).lease_token);
    await checkOut(server, license, { user: 'alan' });
    await lease(server, license, ada);
    await checkOut(server, license, { user: 'alan' });
    expect(await holdersAtDenials(license)).toEqual([['ada active'], ['ada lingering']]);
  });

  it('is one of at most a thousand of its license', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    await writeRows(
      server.dataDir,
      `INSERT INTO lease_denials (license_id, created_at, error_code, instance_id, units, pool, holders, holder_count)
       WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1200)
       SELECT ${license.license_id}, 0, 'no_seat_available', 'old', 1, '{}', '[]', 0 FROM n`,
    );
    await checkOut(server, license);
    await server.admin.listLeaseDenials({ license: license.license_key });
    const [{ count }] = await selectRows(
      server.dataDir,
      `SELECT count(*) AS count FROM lease_denials WHERE license_id = ${license.license_id}`,
    );
    expect(count).toBe(1000);
    expect(
      (await server.admin.listLeaseDenials({ license: license.license_key, limit: 1 })).items,
    ).toMatchObject([{ error_code: 'no_seat_available', holder_count: 1 }]);
  });

  it('causes an event also before the license has a seat in use', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    await checkOut(server, license, { units: 5 });
    await untilEvents(license.license_id, ['lease.denied']);
  });

  it('causes one event a minute, with their number', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    await checkOut(server, license, { user: 'first' });
    await untilEvents(license.license_id, ['pool.exhausted', 'lease.denied']);
    for (const _ of [1, 2, 3]) await checkOut(server, license);
    await server.admin.listLeaseDenials({});
    expect(await namesOf(license.license_id)).toEqual(['pool.exhausted', 'lease.denied']);
    clock.advance(61_000);
    await checkOut(server, license, { user: 'last' });
    await untilEvents(license.license_id, ['pool.exhausted', 'lease.denied', 'lease.denied']);
    const bodies = (await eventsOf(server.dataDir, license.license_id)).map(({ body }) => body);
    expect(bodies.slice(1)).toMatchObject([
      { user: 'first', denied_count: 1, pool: { in_use: 1 } },
      { user: 'last', denied_count: 4 },
    ]);
  });
});

describe('a pool', () => {
  it('is announced as exhausted once, and as available after a calm minute', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    for (const _ of [1, 2, 3]) await release(server, (await lease(server, license)).lease_token);
    expect(await namesOf(license.license_id)).toEqual(['pool.exhausted']);
    await passTime(server.dataDir, 31_000);
    await untilLookedAt(server.dataDir);
    const { lease_token } = await lease(server, license);
    await release(server, lease_token);
    await passTime(server.dataDir, 31_000);
    expect(await namesOf(license.license_id)).toEqual(['pool.exhausted']);
    await passTime(server.dataDir, 30_000);
    await untilEvents(license.license_id, ['pool.exhausted', 'pool.available']);
    await lease(server, license);
    expect((await namesOf(license.license_id)).at(-1)).toBe('pool.exhausted');
  });

  it('is announced while it is overdrawn', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 2 });
    await lease(server, license);
    const { lease_token } = await lease(server, license);
    expect(await namesOf(license.license_id)).toEqual(['pool.overdraft_started']);
    await release(server, lease_token);
    await passTime(server.dataDir, 61_000);
    await untilEvents(license.license_id, ['pool.overdraft_started', 'pool.overdraft_ended']);
  });

  const setSeats = ({ license_key: ref }: { license_key: string }, seats: number) =>
    server.admin.updateLicense({ ref, seats });

  /** Waits until upkeep has set the mark for a change that is not announced yet, or has cleared it. */
  const untilNoted = (licenseId: number, column: 'free_since' | 'covered_since', isNoted: boolean) =>
    eventually(async () => {
      const [pool] = await selectRows(
        server.dataDir,
        `SELECT ${column} AS since FROM lease_pools WHERE license_id = ${licenseId}`,
      );
      expect(pool.since !== null).toBe(isNoted);
    });

  it('is announced as available when its seats are raised', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    await setSeats(license, 5);
    await untilNoted(license.license_id, 'free_since', true);
    await passTime(server.dataDir, 61_000);
    await untilEvents(license.license_id, ['pool.exhausted', 'pool.available']);
  });

  it('is not announced as available if its seats are lowered again before the minute has passed', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    await lease(server, license);
    await release(server, (await lease(server, license)).lease_token);
    await setSeats(license, 1);
    await passTime(server.dataDir, 61_000);
    await untilNoted(license.license_id, 'free_since', false);
    expect(await namesOf(license.license_id)).toEqual(['pool.exhausted']);
    await setSeats(license, 5);
    await untilNoted(license.license_id, 'free_since', true);
    await passTime(server.dataDir, 61_000);
    await untilEvents(license.license_id, ['pool.exhausted', 'pool.available']);
  });

  it('is announced once as overdrawn although its seats are raised and lowered again', async () => {
    const license = await newFloatingLicense(server, { seats: 1, overdraft_seats: 5 });
    for (const _ of [1, 2]) await lease(server, license);
    await setSeats(license, 2);
    await untilNoted(license.license_id, 'covered_since', true);
    await setSeats(license, 1);
    await passTime(server.dataDir, 61_000);
    await untilNoted(license.license_id, 'covered_since', false);
    expect(await namesOf(license.license_id)).toEqual(['pool.overdraft_started']);
  });
});

describe('usage', () => {
  async function meteredAt(licenseId: number): Promise<number> {
    const [pool] = await selectRows(
      server.dataDir,
      `SELECT metered_at FROM lease_pools WHERE license_id = ${licenseId}`,
    );
    return pool.metered_at as number;
  }

  it('has the peak, average, denied and queued of each hour, as a replay of the log has them', async () => {
    const license = await newFloatingLicense(server, { seats: 5 });
    const ref = license.license_key;
    const start = clock.now();
    const live: Checkout[] = [];
    /** Seats in use, and since when. */
    const log: { at: number; inUse: number }[] = [];
    const note = () => log.push({ at: clock.now(), inUse: live.length });
    // Six clients come for five seats.
    const steps = [3, -1, 2, -4, 0, 6, -2, 1, -3, 2, -1];
    for (const step of steps) {
      for (let count = 0; count < Math.abs(step); count += 1) {
        if (step < 0) await release(server, live.pop()!.lease_token);
        else {
          const reply = await checkOut(server, license);
          if (reply.status === 200) live.push(reply.body as Checkout);
        }
        note();
      }
      clock.advance(17 * 60_000);
    }
    note();
    const { hours, days, pool } = await server.admin.leaseUsage({
      license: ref,
      from: new Date(start).toISOString(),
    });
    const replay = new Map<number, { peak: number; seatMs: number }>();
    for (const [index, { at, inUse }] of log.entries()) {
      const until = log[index + 1]?.at ?? at;
      for (let hour = Math.floor(at / HOUR_MS) * HOUR_MS; hour <= until; hour += HOUR_MS) {
        const ms = Math.min(until, hour + HOUR_MS) - Math.max(at, hour);
        if (ms <= 0 && hour !== Math.floor(at / HOUR_MS) * HOUR_MS) continue;
        const known = replay.get(hour) ?? { peak: 0, seatMs: 0 };
        replay.set(hour, {
          peak: Math.max(known.peak, inUse),
          seatMs: known.seatMs + inUse * Math.max(0, ms),
        });
      }
    }
    const expected = [...replay].map(([hour, { peak, seatMs }]) => [
      new Date(hour).toISOString(),
      peak,
      Math.round((seatMs / (Math.min(clock.now(), hour + HOUR_MS) - hour)) * 100) / 100,
    ]);
    expect(hours.map(({ hour, peak, average }) => [hour, peak, average])).toEqual(expected);
    expect(days).toMatchObject([{ day: '2035-01-01', peak: 5, denied: 1 }]);
    expect(hours.reduce((sum, { denied }) => sum + denied, 0)).toBe(1);
    expect(pool).toMatchObject({ total: 5, in_use: live.length });
    const { items } = await server.admin.showRetention({});
    for (const kind of ['leases', 'lease_denials', 'lease_usage'])
      expect(items.find((item) => item.kind === kind)).toMatchObject({
        entries: expect.toSatisfy((entries: number) => entries > 0),
        bytes: expect.toSatisfy((bytes: number) => bytes > 0),
      });
  });

  it('counts checkouts that had to wait, once each', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    const { ticket, lease: waiting } = await queued(server, license);
    await keepPlaces(server.dataDir, license.license_id);
    const { items } = await server.admin.listLeases({ license: license.license_key, state: 'queued' });
    expect(items).toMatchObject([{ lease_id: waiting.lease_id, position: 1 }]);
    await checkOut(server, license, { instance_id: items[0]!.instance_id, ticket, wait_seconds: 60 });
    await keepPlaces(server.dataDir, license.license_id);
    const { hours } = await server.admin.leaseUsage({ license: license.license_key });
    expect(hours).toMatchObject([{ peak: 1, needed: 2, queued: 1, denied: 0 }]);
    await Promise.all([1, 2, 3].map((units) => checkOut(server, license, { units })));
    const [hour] = (await server.admin.leaseUsage({ license: license.license_key })).hours;
    expect(hour!.needed).toBeGreaterThanOrEqual(1 + 1 + 3);
    expect(hour!.needed).toBeLessThanOrEqual(1 + 1 + 6);
    expect(hour!.denied).toBe(3);
  });

  it.each([
    ['three hours', 3],
    ['40 days', 40 * 24],
  ])('is counted once although the clock was %s ahead', async (_, hoursAhead) => {
    const license = await newFloatingLicense(server, { seats: 5 });
    clock.set(Math.ceil(clock.now() / HOUR_MS) * HOUR_MS);
    const start = clock.now();
    await lease(server, license, { units: 2 });
    const change = async () => release(server, (await lease(server, license)).lease_token);
    clock.advance(hoursAhead * HOUR_MS);
    await change();
    clock.set(start);
    const { license_id: id } = license;
    await eventually(async () => expect(await meteredAt(id)).toBeLessThanOrEqual(start + HOUR_MS));
    await change();
    clock.advance(2.5 * HOUR_MS);
    const averages = async () => {
      const { hours } = await server.admin.leaseUsage({ license: license.license_key });
      return hours.slice(-2).map(({ average }) => average);
    };
    expect(await averages()).toEqual([2, 2]);
    await change();
    expect(await averages()).toEqual([2, 2]);
  });

  it('has no seats that were needed in hours of a clock that was ahead', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    clock.set(Math.ceil(clock.now() / HOUR_MS) * HOUR_MS);
    const start = clock.now();
    await lease(server, license);
    const needed = async () => {
      const { hours } = await server.admin.leaseUsage({ license: license.license_key });
      return hours.map((hour) => hour.needed);
    };
    clock.advance(3 * HOUR_MS);
    await checkOut(server, license);
    // A pool that is metered by this clock is what is corrected later.
    await eventually(async () => expect(await meteredAt(license.license_id)).toBe(clock.now()));
    expect((await needed()).at(-1)).toBe(2);
    clock.set(start);
    await eventually(async () => expect(await meteredAt(license.license_id)).toBe(start + HOUR_MS));
    clock.advance(3.5 * HOUR_MS);
    expect(await needed()).toEqual([1, 1, 1, 1]);
  });

  it('counts a refusal for the hour of its entry in the list of denials, although it is written in the next one', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    clock.advance(HOUR_MS - 1);
    await checkOut(server, license);
    clock.advance(1);
    const { hours } = await server.admin.leaseUsage({ license: license.license_key });
    const { items } = await server.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([{ at: '2035-01-01T12:59:59.999Z' }]);
    expect(hours.filter(({ denied }) => denied > 0)).toMatchObject([
      { hour: '2035-01-01T12:00:00.000Z', denied: 1 },
    ]);
  });

  it('of a period that ends with a date includes that day on the command line, as its denials do', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    await lease(server, license);
    await checkOut(server, license);
    const day = new Date(clock.now()).toISOString().slice(0, 10);
    const period = ['--from', day, '--to', day];
    const cli = cliOn(server.dataDir);
    const usage = await cli.ok<{ days: object[] }>('lease', 'usage', license.license_key, ...period);
    expect(usage.days).toMatchObject([{ day, peak: 1, denied: 1 }]);
    const ofLicense = ['--license', license.license_key, ...period];
    const { items } = await cli.ok<{ items: object[] }>('lease', 'denials', ...ofLicense);
    expect(items).toHaveLength(1);
  });

  it('covers an hour without a change', async () => {
    const license = await newFloatingLicense(server, { seats: 3 });
    const { lease_token } = await lease(server, license, { units: 2 });
    clock.advance(3 * HOUR_MS);
    const { hours } = await server.admin.leaseUsage({ license: license.license_key });
    expect(hours.map(({ peak, average }) => [peak, average])).toEqual([
      [2, 2],
      [2, 2],
      [2, 2],
    ]);
    expect((await heartbeat(server, lease_token)).status).toBe(200);
  });

  it('has the average of a day over the part of the day that was asked for', async () => {
    const license = await newFloatingLicense(server, { seats: 5 });
    await lease(server, license, { units: 2 });
    const from = Math.ceil(clock.now() / (24 * HOUR_MS)) * 24 * HOUR_MS + 18 * HOUR_MS;
    clock.advance(from + 30 * HOUR_MS - clock.now());
    const at = (hours: number) => new Date(from + hours * HOUR_MS).toISOString();
    const averages = async (period: { from: string; to?: string }) => {
      const usage = await server.admin.leaseUsage({ license: license.license_key, ...period });
      return usage.days.map(({ average }) => average);
    };
    expect(await averages({ from: at(0) })).toEqual([2, 2]);
    // The hour that has begun counts as a whole.
    expect(await averages({ from: at(0), to: at(2.5) })).toEqual([2]);
  });

  it('refuses a period that is none, or too long', async () => {
    const license = (await newFloatingLicense(server)).license_key;
    const at = (days: number) => new Date(clock.now() - days * 24 * HOUR_MS).toISOString();
    for (const period of [{ from: at(1), to: at(2) }, { from: at(500) }])
      await expect(server.admin.leaseUsage({ license, ...period })).rejects.toMatchObject({
        code: 'invalid_request',
      });
  });
});

describe('the list of leases', () => {
  it('filters by license, user, host and state, and pages', async () => {
    const license = await newFloatingLicense(server, { seats: 5 });
    const ref = license.license_key;
    const mine = await lease(server, license, { user: 'Filter-Ada', host: 'Filter-Host' });
    await release(server, (await lease(server, license)).lease_token);
    const ids = async (filter: object) =>
      (await server.admin.listLeases({ ...filter })).items.map(({ lease_id }) => lease_id);
    const { lease_id } = mine.lease;
    expect(await ids({ user: 'filter-ada' })).toEqual([lease_id]);
    expect(await ids({ host: 'filter-host', license: ref })).toEqual([lease_id]);
    expect(await ids({ state: 'live', license: ref })).toEqual([lease_id]);
    expect(await ids({ state: 'released', license: ref })).toEqual([lease_id + 1]);
    const first = await server.admin.listLeases({ license: ref, limit: 1 });
    const second = await server.admin.listLeases({ license: ref, limit: 1, cursor: first.next_cursor! });
    expect([first.items[0]!.lease_id, second.items[0]!.lease_id]).toEqual([lease_id + 1, lease_id]);
    expect(first.pool).toMatchObject({ total: 5, in_use: 1 });
  });
});

it('lists of leases and denials find a name however an accent is encoded', async () => {
  const license = await newFloatingLicense(server, { seats: 1 });
  const as = (form: 'NFC' | 'NFD') => ({ user: 'José'.normalize(form), host: 'Büro-1'.normalize(form) });
  await lease(server, license, as('NFC'));
  await checkOut(server, license, as('NFD'));
  for (const form of ['NFC', 'NFD'] as const) {
    const filter = { license: license.license_key, ...as(form) };
    expect((await server.admin.listLeases(filter)).items).toHaveLength(1);
    expect((await server.admin.listLeaseDenials(filter)).items).toHaveLength(1);
  }
});

describe('the list of pools', () => {
  it('has every floating license, those under most pressure first, and pages', async () => {
    const plan = (await newFloatingLicense(server, { seats: 4 })).plan;
    const make = async () => (await server.admin.createLicense({ holder: 'Pools & Co', plan })).license;
    const [calm, full, half] = [await make(), await make(), await make()];
    for (const _ of [1, 2, 3, 4]) await lease(server, full);
    await checkOut(server, full);
    await lease(server, half, { units: 2 });
    const list = (filter: object) => server.admin.listLeasePools({ plan, search: 'pools & co', ...filter });
    await server.admin.listLeaseDenials({});
    const { items } = await list({});
    expect(items.map(({ license_id }) => license_id)).toEqual([
      full.license_id,
      half.license_id,
      calm.license_id,
    ]);
    expect(items[0]).toMatchObject({
      denied_24h: 1,
      license_state: 'active',
      holder: 'Pools & Co',
      pool: { total: 4, in_use: 4, available: 0 },
    });
    expect((await list({ min_percent: 50 })).items).toHaveLength(2);
    const first = await list({ limit: 2 });
    const rest = await list({ limit: 2, cursor: first.next_cursor! });
    expect(rest.items.map(({ license_id }) => license_id)).toEqual([calm.license_id]);
    expect((await server.admin.listLeasePools({ search: half.license_key })).items).toMatchObject([
      { license_id: half.license_id, pool: { in_use: 2 } },
    ]);
  });
});
