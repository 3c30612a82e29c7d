// Many clients at once: never more seats than the license has, on SQLite and on three servers over PostgreSQL.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atOnce, decided } from '../helpers/at-once.ts';
import { newFloatingLicense, newInstanceId } from '../helpers/contract-calls.ts';
import { type Checkout, checkOut, heartbeat, keepPlaces, release, seatsOf } from '../helpers/leases.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, PATIENT } from '../helpers/postgres-database.ts';
import { type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

const ROUNDS = roundsOr(1);
const CLIENTS = 200;
const SEATS = 10;

function outcomes(replies: readonly Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const outcome = (body as { error_code?: string }).error_code ?? String(status);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

const granted = (replies: readonly Reply[]) =>
  replies.filter(({ status }) => status === 200).map(({ body }) => body as Checkout);

/** A checkout of one instance, until it is decided. */
function decidedCheckout(...[server, license, options]: Parameters<typeof checkOut>): Promise<Reply> {
  const instance_id = newInstanceId();
  return decided(() => checkOut(server, license, { instance_id, ...options }));
}

/** The tests of any number of servers on one database. @param database its data directory or address */
function races(servers: readonly TestServer[], database: () => string) {
  const server = (turn: number) => servers[turn % servers.length] as TestServer;
  const first = () => server(0);

  async function poolOf(ref: string) {
    return (await first().admin.listLeases({ license: ref, limit: 1 })).pool!;
  }

  it(`gives ${SEATS} seats to ${SEATS} of ${CLIENTS} clients`, async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const license = await newFloatingLicense(first(), { seats: SEATS });
      const replies = await atOnce(CLIENTS, (turn) => decidedCheckout(server(turn), license));
      expect(outcomes(replies), `round ${round}`).toEqual({ 200: SEATS, no_seat_available: CLIENTS - SEATS });
      expect(await poolOf(license.license_key)).toMatchObject({ in_use: SEATS, available: 0 });
      const releases = await atOnce(SEATS, (turn) =>
        release(server(turn), granted(replies)[turn]!.lease_token),
      );
      expect(outcomes(releases)).toEqual({ 200: SEATS });
      expect(await poolOf(license.license_key)).toMatchObject({ in_use: 0, available: SEATS });
    }
  });

  it('never takes more units than there are, and overdraft exactly', async () => {
    for (let round = 0; round < ROUNDS; round += 1) {
      const license = await newFloatingLicense(first(), { seats: 20, overdraft_seats: 5 });
      const replies = await atOnce(60, (turn) =>
        decidedCheckout(server(turn), license, { units: 1 + (turn % 3) }),
      );
      const units = granted(replies).reduce((sum, { lease }) => sum + lease.units, 0);
      const { in_use, overdraft } = await poolOf(license.license_key);
      expect([in_use, overdraft], `round ${round}`).toEqual([units, Math.max(0, units - 20)]);
      expect(units, `round ${round}`).toBeLessThanOrEqual(25);
      // Seats that were too few for larger clients are left; single ones fill them to the last.
      const rest = await atOnce(10, (turn) => decidedCheckout(server(turn), license));
      expect(granted(rest), `round ${round}`).toHaveLength(25 - units);
      expect(await poolOf(license.license_key)).toMatchObject({ in_use: 25, overdraft: 5, available: 0 });
      const taken = [...granted(replies), ...granted(rest)];
      expect(
        taken.filter(({ lease }) => lease.overdraft).length,
        `round ${round}: leases beyond the seats`,
      ).toBeGreaterThan(0);
    }
  });

  it('gives one instance one seat, and one of its tokens works', async () => {
    const license = await newFloatingLicense(first(), { seats: 5 });
    const instance_id = newInstanceId();
    const replies = await atOnce(30, (turn) => decidedCheckout(server(turn), license, { instance_id }));
    expect(outcomes(replies)).toEqual({ 200: 30 });
    const works = await atOnce(30, (turn) => heartbeat(server(turn), granted(replies)[turn]!.lease_token));
    expect(outcomes(works)).toEqual({ 200: 1, token_invalid: 29 });
    expect(await poolOf(license.license_key)).toMatchObject({ in_use: 1 });
  });

  it('counts a shared seat once, however many come and go', async () => {
    const license = await newFloatingLicense(first(), { seats: 3, count_by: 'user' });
    const replies = await atOnce(60, (turn) =>
      decidedCheckout(server(turn), license, { user: `user-${turn % 6}` }),
    );
    expect((await poolOf(license.license_key)).in_use).toBe(3);
    const taken = granted(replies);
    expect(new Set(taken.map(({ lease }) => lease.counted_as)).size).toBe(3);
    await atOnce(taken.length, (turn) => release(server(turn), taken[turn]!.lease_token));
    expect((await poolOf(license.license_key)).in_use).toBe(0);
  });

  it('ends the newest of its shared seats after they were lowered', async () => {
    const license = await newFloatingLicense(first(), { seats: 4, count_by: 'user' });
    const tokens: string[] = [];
    for (const user of ['ada', 'bob', 'eve', 'joan', 'joan'])
      tokens.push((await checkOut(first(), license, { user })).body.lease_token as string);
    await first().admin.updateLicense({ ref: license.license_key, seats: 2 });
    const replies: Reply[] = [];
    for (const [turn, token] of tokens.entries()) replies.push(await heartbeat(server(turn), token));
    expect(replies.map(({ status }) => status)).toEqual([200, 200, 410, 410, 410]);
    expect((await poolOf(license.license_key)).in_use).toBe(2);
  });

  it('releases once what is released many times at once', async () => {
    const license = await newFloatingLicense(first(), { seats: 2 });
    const [mine] = granted([await checkOut(first(), license), await checkOut(first(), license)]);
    expect(outcomes(await atOnce(20, (turn) => release(server(turn), mine!.lease_token)))).toEqual({
      200: 20,
    });
    expect((await poolOf(license.license_key)).in_use).toBe(1);
  });

  it('serves waiting clients in order while seats come free at once', async () => {
    const license = await newFloatingLicense(first(), { seats: 4 });
    const taken = granted(await atOnce(4, (turn) => checkOut(server(turn), license)));
    const waiting: { instance_id: string; ticket: string }[] = [];
    for (let turn = 0; turn < 8; turn += 1) {
      const instance_id = newInstanceId();
      const reply = await checkOut(server(turn), license, { instance_id, wait_seconds: 600 });
      expect(reply.body).toMatchObject({ queued: true, position: turn + 1 });
      waiting.push({ instance_id, ticket: reply.body.ticket as string });
      await keepPlaces(database(), license.license_id);
    }
    await atOnce(4, (turn) => release(server(turn), taken[turn]!.lease_token));
    const replies = await atOnce(8, (turn) => {
      const client = waiting[7 - turn]!;
      return checkOut(server(turn), license, { ...client, wait_seconds: 600 });
    });
    // Asked in reverse order; the first four have the seats.
    expect(replies.map(({ status }) => status).toReversed()).toEqual([
      200, 200, 200, 200, 202, 202, 202, 202,
    ]);
  });
}

describe('one server on SQLite', () => {
  const server = {} as TestServer;
  beforeAll(async () => {
    Object.assign(server, await startTestServer());
  });
  afterAll(() => server.stop());

  races([server], () => server.dataDir);

  it('keeps its counter equal to its leases', async () => {
    const license = await newFloatingLicense(server, { seats: 7, count_by: 'user', borrow_max_hours: 5 });
    const tokens: string[] = [];
    await atOnce(150, async (turn) => {
      const reply = await checkOut(server, license, { user: `user-${turn % 9}`, units: 1 + (turn % 2) });
      if (reply.status === 200) tokens.push(reply.body.lease_token as string);
      const token = turn % 3 === 0 ? tokens.shift() : undefined;
      if (token) await release(server, token);
    });
    const { counted, held } = await seatsOf(server.dataDir, license.license_id);
    expect(counted.in_use).toBe(held);
    expect(held).toBeLessThanOrEqual(7);
  });
});

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`three servers on one PostgreSQL database${why}`, () => {
  const servers = [{}, {}, {}] as TestServer[];
  let address: string;

  beforeAll(async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    address = (await newMigratedPostgresDatabase()) + PATIENT;
    const flags = { 'database-url': address };
    const started = await Promise.all(servers.map(() => startTestServer({ flags, masterKey })));
    for (const [index, each] of started.entries()) Object.assign(servers[index]!, each);
  });
  afterAll(async () => {
    await Promise.all(servers.map((server) => server.stop()));
  });

  races(servers, () => address);

  it('shares leases: what one server grants, another extends, lends and takes back', async () => {
    const [one, two, three] = servers as [TestServer, TestServer, TestServer];
    const license = await newFloatingLicense(one, { seats: 1 });
    const { body } = await checkOut(one, license);
    expect((await heartbeat(two, body.lease_token as string)).status).toBe(200);
    const machine_fingerprint = `sha256:${'b'.repeat(64)}`;
    const loan = await three.post('/leases/borrow/', {
      lease_token: body.lease_token as string,
      hours: 1,
      machine_fingerprint,
    });
    expect(loan.body.lease).toMatchObject({ state: 'borrowed' });
    expect((await checkOut(two, license)).body.details.pool).toMatchObject({ in_use: 1, borrowed: 1 });
    expect((await one.post('/leases/return/', { lease_file: loan.body.lease_file as string })).status).toBe(
      200,
    );
    const { items } = await two.admin.listLeaseDenials({ license: license.license_key });
    expect(items).toMatchObject([{ error_code: 'no_seat_available', pool: { borrowed: 1 } }]);
    const { hours } = await three.admin.leaseUsage({ license: license.license_key });
    expect(hours.reduce((sum, { denied }) => sum + denied, 0)).toBe(1);
  });
});
