// Denials on PostgreSQL: `lease.denied` is sent at most once a minute for a license, on all servers.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { newFloatingLicense } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { checkOut, lease } from '../helpers/leases.ts';
import { eventsOf } from '../helpers/outbox.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { createTestClock, type TestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

type License = Awaited<ReturnType<typeof newFloatingLicense>>;

describe.skipIf(!hasPostgres)('servers on one PostgreSQL database', () => {
  const noon = Date.UTC(2035, 0, 1, 12);
  const clocks: [TestClock, TestClock] = [createTestClock(noon), createTestClock(noon)];
  let url: string;
  let one: TestServer;
  let other: TestServer;
  let sequelize: Database;

  beforeAll(async () => {
    url = (await newMigratedPostgresDatabase()) + PATIENT;
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    const flags = { 'database-url': url };
    [one, other] = await Promise.all([
      startTestServer({ flags, masterKey, clock: clocks[0] }),
      startTestServer({ flags, masterKey, clock: clocks[1] }),
    ]);
    sequelize = await connect({ url, file: '' });
  });
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop(), sequelize.close()]);
  });

  const advance = (ms: number) => {
    for (const clock of clocks) clock.advance(ms);
  };

  const flush = (server: TestServer) => server.admin.listLeaseDenials({});

  async function deny(server: TestServer, license: License): Promise<void> {
    expect((await checkOut(server, license)).status).toBe(409);
    await flush(server);
  }

  async function fullLicense(): Promise<License> {
    const license = await newFloatingLicense(one, { seats: 1 });
    await lease(one, license);
    return license;
  }

  /** The numbers of denials that were announced. */
  async function announced({ license_id }: License): Promise<number[]> {
    const events = await eventsOf(url, license_id);
    return events
      .filter(({ name }) => name === 'lease.denied')
      .map(({ body }) => body.denied_count as number);
  }

  it('announce denials once a minute although their clocks differ a little', async () => {
    const license = await fullLicense();
    await deny(one, license);
    clocks[1].advance(-300);
    await deny(other, license);
    expect(await announced(license)).toEqual([1]);
    advance(61_000);
    await deny(other, license);
    expect(await announced(license)).toEqual([1, 2]);
  });

  it('announce them again if the clock was set back by more than a minute', async () => {
    const license = await fullLicense();
    await deny(one, license);
    advance(-61_000);
    await deny(one, license);
    expect(await announced(license)).toEqual([1, 1]);
  });

  it('count the minute from the announcement, although its transaction had to wait', async () => {
    const license = await fullLicense();
    const held = await lastingTransaction(sequelize, 'LOCK TABLE lease_denials IN EXCLUSIVE MODE');
    const denial = deny(one, license);
    await eventually(async () => expect(await countLockWaiters(url)).toBe(1));
    advance(30_000);
    await held.rollback();
    await denial;
    advance(31_000);
    await deny(one, license);
    expect(await announced(license)).toEqual([1]);
    advance(30_000);
    await deny(one, license);
    expect(await announced(license)).toEqual([1, 2]);
  });
});
