// Leases as client software sees them, and what really is in the database.
import { expect } from 'vitest';
import type { LeaseObject, PoolObject, QueuedCheckout } from '#server/features/leases/lease-contract.ts';
import { newInstanceId } from './contract-calls.ts';
import { selectRows, writeRows } from './database.ts';
import { eventually } from './eventually.ts';
import type { Reply, TestServer } from './test-server.ts';

export interface Checkout {
  lease: LeaseObject;
  lease_token: string;
  lease_file: string;
  pool: PoolObject;
}

export type Caller = Pick<TestServer, 'post'>;

/** Matches so many seconds, less those that a slow machine has taken since: fewer than a minute. */
export function almost(seconds: number): unknown {
  return expect.toSatisfy((left: number) => left > seconds - 60 && left <= seconds);
}

/** One checkout, whatever comes of it. */
export function checkOut(
  server: Caller,
  license: { license_key: string },
  fields: object = {},
): Promise<Reply> {
  return server.post('/leases/checkout/', {
    license_key: license.license_key,
    instance_id: newInstanceId(),
    ...fields,
  });
}

/** A checkout that succeeds. */
export async function lease(
  server: Caller,
  license: { license_key: string },
  fields: object = {},
): Promise<Checkout> {
  const reply = await checkOut(server, license, fields);
  if (reply.status !== 200) throw new Error(`no lease: ${JSON.stringify(reply.body)}`);
  return reply.body as Checkout;
}

/** A checkout that has to wait. */
export async function queued(
  server: Caller,
  license: { license_key: string },
  fields: object = {},
): Promise<QueuedCheckout> {
  const reply = await checkOut(server, license, { wait_seconds: 3600, ...fields });
  if (reply.status !== 202) throw new Error(`not queued: ${JSON.stringify(reply.body)}`);
  return reply.body as QueuedCheckout;
}

export function heartbeat(server: Caller, lease_token: string): Promise<Reply> {
  return server.post('/leases/heartbeat/', { lease_token });
}

export function release(server: Caller, lease_token: string): Promise<Reply> {
  return server.post('/leases/release/', { lease_token });
}

/** Moves lease time on, as if the server had run for so long. It notices with the next tick, within a second. */
export function passTime(dataDir: string, ms: number): Promise<void> {
  return writeRows(dataDir, `UPDATE lease_clock SET lease_at = lease_at + ${ms}`);
}

/** Until the server has looked at the leases twice: it knows what time it is for them. */
export async function untilLookedAt(dataDir: string): Promise<void> {
  const seenAt = async () =>
    (await selectRows(dataDir, 'SELECT seen_at FROM lease_clock'))[0].seen_at as number;
  for (let look = 0; look < 2; look += 1) {
    const before = await seenAt();
    await eventually(async () => expect(await seenAt()).not.toBe(before));
  }
}

/** Moves the ends of a license's leases into the past, and those of their files. */
export function makeDue(dataDir: string, licenseId: number, also = ''): Promise<void> {
  return writeRows(
    dataDir,
    `UPDATE leases SET due_at = (SELECT lease_at FROM lease_clock) - 60000,
       borrowed_until = CASE WHEN state = 'borrowed' THEN 0 END
     WHERE license_id = ${licenseId} AND ended_at IS NULL ${also}`,
  );
}

/**
 * Lets waiting clients keep their places for a day without asking, so that a slow machine drops none.
 * @param where a data directory, or the address of a PostgreSQL database
 */
export function keepPlaces(where: string, licenseId: number): Promise<void> {
  return writeRows(
    where,
    `UPDATE leases SET due_at = (SELECT lease_at FROM lease_clock) + 86400000
     WHERE license_id = ${licenseId} AND state = 'queued' AND offered = 0 AND ended_at IS NULL`,
  );
}

/**
 * Adds leases like this one, each with a separate seat, as if other clients had taken them right after it.
 * @param where as for `keepPlaces`
 */
export function copyLease(where: string, leaseId: number, copies: number): Promise<void> {
  const own = 'FROM leases e WHERE e.license_id = lease_pools.license_id AND e.ended_at IS NULL';
  return writeRows(
    where,
    `INSERT INTO leases (license_id, instance_id, token_hash, state, units, seat_key, product, offered, lease_seconds,
       issued_at, heartbeat_at, due_at, wait_until)
     WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${copies})
     SELECT license_id, 'copy-' || i, token_hash || i, state, units, 'process:copy-' || i, product, offered, lease_seconds,
       issued_at, heartbeat_at, due_at, wait_until
     FROM n, leases WHERE id = ${leaseId} ORDER BY i`,
    `UPDATE lease_pools SET version = version + 1,
       in_use = (SELECT coalesce(sum(e.units), 0) ${own} AND (e.state <> 'queued' OR e.offered = 1)),
       queued = (SELECT count(*) ${own} AND e.state = 'queued')
     WHERE license_id = (SELECT license_id FROM leases WHERE id = ${leaseId})`,
  );
}

/** What the counter says, and what the leases themselves add up to; they must always be the same. */
export async function seatsOf(dataDir: string, licenseId: number) {
  const [counted] = await selectRows(
    dataDir,
    `SELECT in_use, borrowed, queued FROM lease_pools WHERE license_id = ${licenseId}`,
  );
  const [held] = await selectRows(
    dataDir,
    `SELECT coalesce(sum(units), 0) AS units FROM (
       SELECT max(units) AS units FROM leases WHERE license_id = ${licenseId} AND ended_at IS NULL
         AND (state <> 'queued' OR offered = 1) GROUP BY seat_key) s`,
  );
  return {
    counted: counted as { in_use: number; borrowed: number; queued: number },
    held: held.units as number,
  };
}
