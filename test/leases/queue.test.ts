import { describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { newFloatingLicense, newInstanceId } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { checkOut, keepPlaces, lease, makeDue, queued, release, seatsOf } from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';

const server = sharedServer();
const WAITING = 50;

async function fullLicense(seats = 1) {
  const license = await newFloatingLicense(server, { seats });
  const taken = [];
  for (let seat = 0; seat < seats; seat += 1) taken.push(await lease(server, license));
  return { license, taken };
}

/** A client that waits, and asks again with its ticket. */
async function waiter(license: { license_key: string }, fields: object = {}) {
  const instance_id = newInstanceId();
  const { ticket, lease: waiting } = await queued(server, license, { instance_id, ...fields });
  const ask = async () => {
    const reply = await checkOut(server, license, { instance_id, ticket, wait_seconds: 3600, ...fields });
    await keepPlaces(server.dataDir, waiting.license_id);
    return reply;
  };
  await keepPlaces(server.dataDir, waiting.license_id);
  return { instance_id, ticket, id: waiting.lease_id, ask };
}

/** The time in which a waiting client has to ask again has just passed. */
function makeSilent(id: number): Promise<void> {
  return writeRows(
    server.dataDir,
    `UPDATE leases SET due_at = (SELECT lease_at FROM lease_clock) WHERE id = ${id}`,
  );
}

describe('a queue', () => {
  it('tells each client its place', async () => {
    const { license } = await fullLicense();
    const first = await queued(server, license);
    const second = await queued(server, license);
    expect(first).toMatchObject({
      queued: true,
      position: 1,
      poll_after_seconds: 5,
      lease: { state: 'queued' },
    });
    expect(second).toMatchObject({ position: 2, pool: { in_use: 1, queued: 2 } });
    expect(first.ticket).toMatch(/^ldq_[\w-]{43}$/u);
  });

  it(`serves ${WAITING} clients in the order in which they came, without those that stopped asking`, async () => {
    const { license, taken } = await fullLicense();
    const waiting = [];
    for (let turn = 0; turn < WAITING; turn += 1) waiting.push(await waiter(license));
    // Some stop asking before their turn.
    const lapsed = waiting.filter((_, turn) => turn % 7 === 3);
    const ids = lapsed.map(({ id }) => id).join(', ');
    await makeDue(server.dataDir, license.license_id, `AND id IN (${ids})`);
    await eventually(async () =>
      expect((await seatsOf(server.dataDir, license.license_id)).counted.queued).toBe(
        WAITING - lapsed.length,
      ),
    );
    let token = taken[0]!.lease_token;
    for (const [turn, client] of waiting.entries()) {
      if (lapsed.includes(client)) continue;
      await release(server, token);
      // No client behind gets the seat, although it asks first, nor does a client without a ticket.
      const last = waiting.at(-1)!;
      if (last !== client) expect((await last.ask()).status, `turn ${turn}`).toBe(202);
      expect((await checkOut(server, license)).status).toBe(409);
      const served = await client.ask();
      expect([served.status, served.body.lease?.lease_id], `turn ${turn}`).toEqual([200, client.id]);
      token = served.body.lease_token as string;
    }
    await release(server, token);
    expect(await seatsOf(server.dataDir, license.license_id)).toEqual({
      counted: { in_use: 0, borrowed: 0, queued: 0 },
      held: 0,
    });
  });

  it('does not let a small client overtake a large one', async () => {
    const { license, taken } = await fullLicense(2);
    const large = await waiter(license, { units: 2 });
    await release(server, taken[0]!.lease_token);
    const refused = await checkOut(server, license);
    expect([refused.status, refused.body.message]).toEqual([
      409,
      'other clients are waiting for the free seats',
    ]);
    const small = await waiter(license);
    expect((await small.ask()).status).toBe(202);
    await release(server, taken[1]!.lease_token);
    expect((await large.ask()).status).toBe(200);
  });

  it('keeps the place of a client that lost its ticket, and gives it a new one', async () => {
    const { license, taken } = await fullLicense();
    const [first, second] = [await waiter(license), await waiter(license)];
    const again = await queued(server, license, { instance_id: first.instance_id });
    expect(again).toMatchObject({ position: 1, lease: { lease_id: first.id }, pool: { queued: 2 } });
    expect(again.ticket).not.toBe(first.ticket);
    await release(server, taken[0]!.lease_token);
    expect((await second.ask()).status).toBe(202);
    expect((await first.ask()).status).toBe(200);
  });

  it('drops clients that stop asking, and serves the next', async () => {
    const { license, taken } = await fullLicense();
    const silent = [await waiter(license), await waiter(license)];
    const patient = await waiter(license);
    await makeDue(server.dataDir, license.license_id, `AND id IN (${silent.map(({ id }) => id).join(', ')})`);
    await eventually(async () =>
      expect((await seatsOf(server.dataDir, license.license_id)).counted.queued).toBe(1),
    );
    await release(server, taken[0]!.lease_token);
    expect((await patient.ask()).status).toBe(200);
    // Who was dropped and asks again begins at the end.
    expect((await silent[0]!.ask()).body).toMatchObject({ queued: true, position: 1 });
  });

  it('offers no seat to a client that has just stopped asking, nor keeps one from others for it', async () => {
    const { license, taken } = await fullLicense(2);
    const [silent, patient] = [await waiter(license, { units: 2 }), await waiter(license)];
    // The job that ends it comes seconds later.
    await makeSilent(silent.id);
    await release(server, taken[0]!.lease_token);
    expect((await patient.ask()).status).toBe(200);
  });

  it('keeps the place of a client that asks a moment too late', async () => {
    const { license, taken } = await fullLicense();
    const late = await waiter(license);
    await makeSilent(late.id);
    await release(server, taken[0]!.lease_token);
    const reply = await late.ask();
    // The job may have come first. Then the client waits again, for a seat that is free.
    expect(reply.status).toBe(200);
  });

  it('holds an offered seat, and offers it to the next when the client does not come', async () => {
    const { license, taken } = await fullLicense();
    const [absent, next] = [await waiter(license), await waiter(license)];
    await release(server, taken[0]!.lease_token);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 1 },
      held: 1,
    });
    const { items } = await server.admin.listLeases({ license: license.license_key, state: 'queued' });
    const held = items.find(({ lease_id }) => lease_id === absent.id);
    expect(held?.expires_in).toBeGreaterThan(10);
    expect(held?.expires_in).toBeLessThanOrEqual(30);
    await makeDue(server.dataDir, license.license_id, `AND id = ${absent.id}`);
    await eventually(async () => expect((await next.ask()).status).toBe(200));
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 1, queued: 0 },
      held: 1,
    });
  });

  it('ends with a refusal when the time of a client is up', async () => {
    const { license } = await fullLicense();
    const client = await waiter(license, { wait_seconds: 60 });
    expect((await client.ask()).status).toBe(202);
    await writeRows(server.dataDir, `UPDATE leases SET wait_until = 0 WHERE id = ${client.id}`);
    const reply = await client.ask();
    expect([reply.status, reply.body.error_code]).toEqual([409, 'no_seat_available']);
    expect((await seatsOf(server.dataDir, license.license_id)).counted.queued).toBe(0);
  });

  it('ends with a refusal for a client that does not wait any longer', async () => {
    const { license, taken } = await fullLicense();
    const [first, second] = [await waiter(license), await waiter(license)];
    const reply = await checkOut(server, license, { instance_id: first.instance_id });
    expect([reply.status, reply.body.error_code]).toEqual([409, 'no_seat_available']);
    expect((await seatsOf(server.dataDir, license.license_id)).counted.queued).toBe(1);
    await release(server, taken[0]!.lease_token);
    const offered = await checkOut(server, license, { instance_id: second.instance_id });
    expect([offered.status, offered.body.lease?.lease_id]).toEqual([200, second.id]);
  });

  it('is kept for as long as the client said first, and for another hour if it says so', async () => {
    const { license } = await fullLicense();
    const { instance_id, ticket, id } = await waiter(license, { wait_seconds: 60 });
    const waitUntil = async () => {
      const [row] = await selectRows(server.dataDir, `SELECT wait_until AS at FROM leases WHERE id = ${id}`);
      return row!.at as number;
    };
    const first = await waitUntil();
    expect((await checkOut(server, license, { instance_id, ticket })).status).toBe(202);
    await keepPlaces(server.dataDir, license.license_id);
    expect((await checkOut(server, license, { instance_id, ticket, wait_seconds: 60 })).status).toBe(202);
    expect(await waitUntil()).toBe(first);
    await keepPlaces(server.dataDir, license.license_id);
    expect((await checkOut(server, license, { instance_id, ticket, wait_seconds: 3600 })).status).toBe(202);
    expect(await waitUntil()).toBeGreaterThan(first + 3_000_000);
  });

  it('can be left with the ticket', async () => {
    const { license } = await fullLicense();
    const client = await waiter(license);
    expect((await release(server, client.ticket)).status).toBe(200);
    expect((await seatsOf(server.dataDir, license.license_id)).counted.queued).toBe(0);
  });

  it('moves on when the seats of the license are raised', async () => {
    const { license } = await fullLicense();
    const client = await waiter(license);
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    expect((await client.ask()).status).toBe(200);
  });

  it('is left by a client whose seat another of its processes has got, although others wait before it', async () => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'user' });
    const bob = await lease(server, license, { user: 'bob' });
    await lease(server, license, { user: 'carl' });
    const [first, large, second] = [
      await waiter(license, { user: 'ada' }),
      await waiter(license, { user: 'eve', units: 2 }),
      await waiter(license, { user: 'ada' }),
    ];
    await release(server, bob.lease_token);
    expect((await first.ask()).status).toBe(200);
    const shared = await second.ask();
    expect(shared.status).toBe(200);
    expect(shared.body.pool).toMatchObject({ in_use: 2, queued: 1 });
    expect((await large.ask()).status).toBe(202);
    expect(await seatsOf(server.dataDir, license.license_id)).toEqual({
      counted: { in_use: 2, borrowed: 0, queued: 1 },
      held: 2,
    });
  });

  it('is not the reason that a refusal names if too few seats are free', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    await lease(server, license);
    const one = await checkOut(server, license, { units: 2 });
    expect(one.body.message).toBe('the checkout needs 2 free seats, and the license has 1');
    await lease(server, license);
    const none = await checkOut(server, license, { units: 2 });
    expect(none.body.message).toBe('all 2 seats of the license are taken');
  });

  it('takes no client that needs more seats than the license has, overdraft included', async () => {
    const license = await newFloatingLicense(server, { seats: 3, overdraft_seats: 1 });
    const refused = await checkOut(server, license, { units: 5, wait_seconds: 3600 });
    expect(refused.body).toMatchObject({
      error_code: 'no_seat_available',
      message: 'units must be at most 4, the seats of the license including overdraft (got 5)',
      details: { pool: { in_use: 0, queued: 0 } },
    });
    expect((await checkOut(server, license)).status).toBe(200);
    expect((await checkOut(server, license, { units: 4, wait_seconds: 3600 })).status).toBe(202);
  });

  it('passes over a client that needs more seats than are left after they were lowered', async () => {
    const { license, taken } = await fullLicense(3);
    const large = await waiter(license, { units: 3 });
    const small = await waiter(license);
    await server.admin.updateLicense({ ref: license.license_key, seats: 2 });
    for (const { lease_token } of taken) await release(server, lease_token);
    expect((await small.ask()).status).toBe(200);
    expect((await checkOut(server, license)).status).toBe(200);
    // It has kept its place for the case that the seats are raised again.
    expect((await large.ask()).status).toBe(202);
  });

  it('leaves a lingering seat to its holder', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const ada = { user: 'ada', host: 'a' };
    await release(server, (await lease(server, license, ada)).lease_token);
    const grace = await waiter(license, { user: 'grace', host: 'g' });
    const again = await lease(server, license, ada);
    expect(again.pool).toMatchObject({ in_use: 1, queued: 1 });
    expect((await grace.ask()).status).toBe(202);
    const { items } = await server.admin.listLeases({ license: license.license_key, state: 'released' });
    expect(items).toMatchObject([{ user: 'ada', end_reason: 'replaced' }]);
  });

  it('leaves a lingering seat to its holder, however an accent in a name is encoded', async () => {
    const license = await newFloatingLicense(server, { seats: 1, linger_seconds: 300 });
    const as = (form: 'NFC' | 'NFD') => ({ user: 'José'.normalize(form), host: 'Büro-1'.normalize(form) });
    await release(server, (await lease(server, license, as('NFC'))).lease_token);
    expect((await lease(server, license, as('NFD'))).pool.in_use).toBe(1);
  });

  it('leaves a lingering seat to its holder after a checkout that was refused', async () => {
    const license = await newFloatingLicense(server, { seats: 3, linger_seconds: 300 });
    const ada = { user: 'ada', host: 'a' };
    await release(server, (await lease(server, license, { ...ada, units: 2 })).lease_token);
    await lease(server, license);
    const grace = await waiter(license, { user: 'grace', host: 'g' });
    expect((await checkOut(server, license, { ...ada, units: 3 })).status).toBe(409);
    expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
      counted: { in_use: 3 },
      held: 3,
    });
    // She needs one of her two seats. The other is free now.
    await lease(server, license, ada);
    expect((await grace.ask()).status).toBe(200);
    expect(await seatsOf(server.dataDir, license.license_id)).toEqual({
      counted: { in_use: 3, borrowed: 0, queued: 0 },
      held: 3,
    });
  });
});
