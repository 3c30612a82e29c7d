// What every call of a license does for the clients that wait for its seats.
import sqlite3 from 'sqlite3';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { LeaseJudge } from '#server/features/leases/lease-judge.ts';
import type { WaitingLease } from '#server/features/leases/lease-store.ts';
import { createWaitingLine } from '#server/features/leases/waiting-line.ts';
import { newFingerprint, newFloatingLicense, newInstanceId } from '../helpers/contract-calls.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import {
  checkOut,
  copyLease,
  heartbeat,
  keepPlaces,
  lease,
  makeDue,
  queued,
  release,
  seatsOf,
} from '../helpers/leases.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
const MOST_WAITING = 1000;

type Plan = Parameters<typeof newFloatingLicense>[1];

/** A client that waits until seats are raised, which the job notices within a second, and calls before that. */
async function waiter(license: { license_key: string; license_id: number }, fields: object = {}) {
  const instance_id = newInstanceId();
  const { ticket } = await queued(server, license, { instance_id, ...fields });
  await keepPlaces(server.dataDir, license.license_id);
  return () => checkOut(server, license, { instance_id, ticket, wait_seconds: 3600, ...fields });
}

const raise = ({ license_key }: { license_key: string }, seats: number) =>
  server.admin.updateLicense({ ref: license_key, seats });

/** Adds clients like the one that waits for the license. */
async function addWaiters({ license_id }: { license_id: number }, count: number): Promise<void> {
  const waiting = `SELECT id FROM leases WHERE license_id = ${license_id} AND state = 'queued'`;
  const [{ id }] = await selectRows(server.dataDir, waiting);
  await copyLease(server.dataDir, id, count);
}

/** @returns how often the pool of a license has been read since */
function countReads(licenseId: number): () => number {
  const all = vi.spyOn(sqlite3.Statement.prototype, 'all');
  onTestFinished(() => all.mockRestore());
  const ofPool = ({ sql }: { sql: string }) => sql.includes('FROM lease_pools WHERE license_id = ?1');
  return () =>
    all.mock.calls.filter(
      ([values], call) => ofPool(all.mock.contexts[call] as never) && (values as number[])[0] === licenseId,
    ).length;
}

async function expectRightCount(licenseId: number): Promise<void> {
  const { counted, held } = await seatsOf(server.dataDir, licenseId);
  expect(counted.in_use).toBe(held);
}

/** A lease of Ada that has ended, while Bob has the only seat and another process of Ada waits. */
async function endedLease(plan: Plan) {
  const license = await newFloatingLicense(server, { seats: 1, ...plan });
  const ended = await lease(server, license, { user: 'ada' });
  await makeDue(server.dataDir, license.license_id);
  await eventually(async () =>
    expect((await seatsOf(server.dataDir, license.license_id)).counted.in_use).toBe(0),
  );
  await lease(server, license, { user: 'bob' });
  return { license, ended };
}

describe('a free seat that is offered by a call of another client', () => {
  it('counts once if both share it', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'user' });
    const bob = await lease(server, license, { user: 'bob' });
    const first = await waiter(license, { user: 'ada' });
    await raise(license, 3);
    const second = await lease(server, license, { user: 'ada' });
    await expectRightCount(license.license_id);
    const tokens = [bob.lease_token, second.lease_token, (await first()).body.lease_token as string];
    for (const token of tokens) await release(server, token);
    expect(await seatsOf(server.dataDir, license.license_id)).toEqual({
      counted: { in_use: 0, borrowed: 0, queued: 0 },
      held: 0,
    });
  });

  it('counts once if a late heartbeat asks for it', async () => {
    const { license, ended } = await endedLease({ count_by: 'user' });
    await waiter(license, { user: 'ada' });
    await raise(license, 3);
    expect((await heartbeat(server, ended.lease_token)).status).toBe(200);
    await expectRightCount(license.license_id);
  });

  it('belongs to others than the device that takes over a part of it', async () => {
    const license = await newFloatingLicense(server, { seats: 2, count_by: 'user', linger_seconds: 3600 });
    const machine_fingerprint = newFingerprint();
    const left = await lease(server, license, { user: 'ada', host: 'a', machine_fingerprint });
    await release(server, left.lease_token);
    await lease(server, license, { user: 'eve', host: 'e' });
    await waiter(license, { user: 'ada', host: 'b', units: 2 });
    await raise(license, 4);
    const bob = await checkOut(server, license, { user: 'bob', host: 'c', machine_fingerprint, units: 2 });
    expect(bob.status).toBe(409);
    await expectRightCount(license.license_id);
  });

  it('counts against the limit that a late heartbeat has to keep', async () => {
    const { license, ended } = await endedLease({});
    const rule = { license: license.license_key, type: 'max' as const, match: { user: 'ada' }, units: 1 };
    await server.admin.createLeaseRule(rule);
    const ask = await waiter(license, { user: 'ada' });
    await raise(license, 3);
    expect((await heartbeat(server, ended.lease_token)).body).toMatchObject({ reason: 'expired' });
    expect((await ask()).status).toBe(200);
    await expectRightCount(license.license_id);
  });
});

describe('a full queue', () => {
  it('takes no more clients, and keeps the places of those that wait', async () => {
    const license = await newFloatingLicense(server, { seats: 1 });
    const { lease_token } = await lease(server, license);
    const ask = await waiter(license);
    await addWaiters(license, MOST_WAITING - 1);
    const refused = await checkOut(server, license, { wait_seconds: 3600 });
    expectFailure(refused, 'overloaded');
    expect(refused.headers.get('retry-after')).toBe('15');
    expect((await checkOut(server, license)).body.error_code).toBe('no_seat_available');
    expect((await ask()).body).toMatchObject({ position: 1, pool: { queued: MOST_WAITING } });
    await release(server, lease_token);
    expect((await ask()).status).toBe(200);
    // One place is free now.
    expect((await checkOut(server, license, { wait_seconds: 3600 })).status).toBe(202);
    expectFailure(await checkOut(server, license, { wait_seconds: 3600 }), 'overloaded');
  });

  it('gets the seat that a client leaves whom it refuses', async () => {
    const license = await newFloatingLicense(server, { seats: 1, count_by: 'device', linger_seconds: 3600 });
    const instance_id = newInstanceId();
    const onDevice = () => ({ instance_id, machine_fingerprint: newFingerprint() });
    await release(server, (await lease(server, license, onDevice())).lease_token);
    const ask = await waiter(license, { machine_fingerprint: newFingerprint() });
    await addWaiters(license, MOST_WAITING - 1);
    expectFailure(await checkOut(server, license, { ...onDevice(), wait_seconds: 3600 }), 'overloaded');
    expect((await ask()).status).toBe(200);
    await expectRightCount(license.license_id);
  });

  it('is not looked for before a client that is ready to wait gets a free seat', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    // The first call adds the pool.
    await lease(server, license);
    const reads = countReads(license.license_id);
    await lease(server, license, { wait_seconds: 3600 });
    expect(reads()).toBe(1);
  });
});

it('an offer beyond the seats gives none, also while more of them are taken back than one call does', async () => {
  const license = await newFloatingLicense(server, { seats: 1 });
  const { lease_token } = await lease(server, license);
  const ask = await waiter(license);
  await writeRows(
    server.dataDir,
    `UPDATE leases SET offered = 1 WHERE license_id = ${license.license_id} AND state = 'queued'`,
  );
  await addWaiters(license, 300);
  expect((await ask()).status).toBe(202);
  expect((await heartbeat(server, lease_token)).status).toBe(200);
  expect(await seatsOf(server.dataDir, license.license_id)).toMatchObject({
    counted: { in_use: 1 },
    held: 1,
  });
});

describe('a look at the queue', () => {
  const verdicts = {
    max: { outcome: 'max', ruleId: 1, rule: 'max 1' },
    allowed: { outcome: 'allowed' },
  } as const;

  /** 500 clients, for whom the rules all decide the same. */
  function line(outcome: keyof typeof verdicts) {
    const waiting = Array.from({ length: 500 }, (_, index): WaitingLease => {
      const id = index + 1;
      return { id, seatKey: `user:${id}`, units: 1, userName: `${id}`, host: null, address: null };
    });
    const among = vi.fn<LeaseJudge['among']>(async ({ holders }) => {
      await holders();
      return () => verdicts[outcome];
    });
    const leases = {
      waiting: async (_licenseId: number, after: number, _now: number, limit: number) =>
        waiting.slice(after, after + limit),
      heldSeats: vi.fn(async () => []),
      unitsOfSeats: vi.fn(async () => new Map<string, number>()),
    };
    const reserved = () => Promise.resolve(0);
    const pool = { license: { id: 1 }, limit: 2, row: { inUse: 0, version: 1 } };
    const passing = () => Promise.resolve(null);
    const leaseClock = { now: () => 0 };
    const inLine = createWaitingLine({ leases, judge: { among, passing, reserved }, leaseClock });
    return { leases, pool, clients: inLine(pool as unknown as Parameters<typeof inLine>[0]) };
  }

  it('reads the holders once for all whom a rule keeps from a seat', async () => {
    const { leases, clients } = line('max');
    for await (const client of clients) expect(client).toBeUndefined();
    expect(leases.heldSeats).toHaveBeenCalledTimes(1);
    expect(leases.unitsOfSeats).toHaveBeenCalledTimes(10);
  });

  it('reads them again after each client that got a seat', async () => {
    const { leases, pool, clients } = line('allowed');
    for await (const { id, units } of clients) {
      if (id > 2) break;
      pool.row = { inUse: pool.row.inUse + units, version: pool.row.version + 1 };
    }
    expect(pool.row.inUse).toBe(2);
    expect(leases.heldSeats).toHaveBeenCalledTimes(3);
    expect(leases.unitsOfSeats).toHaveBeenCalledTimes(1);
  });
});
