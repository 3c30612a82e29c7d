// A license that is changed while a call about its seats waits for another server: the call goes by the changed license.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { newFloatingLicense } from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { checkOut, lease } from '../helpers/leases.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  countLockWaiters,
  lastingTransaction,
  newMigratedPostgresDatabase,
  PATIENT,
} from '../helpers/postgres-database.ts';
import { fingerprintOf, type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

type License = Awaited<ReturnType<typeof newFloatingLicense>>;

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`a call that waits for the pool of a license${why}`, () => {
  let url: string;
  let server: TestServer;
  let other: Database;

  beforeAll(async () => {
    url = (await newMigratedPostgresDatabase()) + PATIENT;
    server = await startTestServer({ flags: { 'database-url': url } });
    other = await connect({ url, file: '' });
  });
  afterAll(() => Promise.all([server.stop(), other.close()]));

  const borrow = (lease_token: string, hours = 1) =>
    server.post('/leases/borrow/', { lease_token, hours, machine_fingerprint: fingerprintOf(1) });

  /** Makes the call wait for the pool, as if another server held it, until the license has been changed. */
  async function callDuring(
    { license_id }: License,
    change: () => Promise<unknown>,
    call: () => Promise<Reply>,
  ): Promise<Reply> {
    const held = await lastingTransaction(
      other,
      `SELECT 1 FROM lease_pools WHERE license_id = ${license_id} FOR UPDATE`,
    );
    const calling = call();
    await eventually(async () => expect(await countLockWaiters(url, 'lease_pools')).toBeGreaterThan(0));
    await change();
    await held.rollback();
    return calling;
  }

  it('lends no seat of a license that was revoked meanwhile', async () => {
    const license = await newFloatingLicense(server, { borrow_max_hours: 5 });
    const { lease_token } = await lease(server, license);
    const reply = await callDuring(
      license,
      () => server.admin.revokeLicense({ ref: license.license_key }),
      () => borrow(lease_token),
    );
    expect(reply).toMatchObject({ status: 410, body: { reason: 'license_revoked' } });
  });

  it('lends no seat for longer than the license allows by then', async () => {
    const license = await newFloatingLicense(server, { borrow_max_hours: 5 });
    const { lease_token } = await lease(server, license);
    const reply = await callDuring(
      license,
      () => server.admin.updateLicense({ ref: license.license_key, borrow_max_hours: 3 }),
      () => borrow(lease_token, 4),
    );
    expect(reply).toMatchObject({ status: 409, body: { error_code: 'borrow_limit_reached' } });
  });

  it('takes no seat of a license that was revoked meanwhile', async () => {
    const license = await newFloatingLicense(server);
    await lease(server, license);
    const reply = await callDuring(
      license,
      () => server.admin.revokeLicense({ ref: license.license_key }),
      () => checkOut(server, license),
    );
    expect(reply).toMatchObject({ status: 403, body: { error_code: 'license_revoked' } });
  });

  it('takes no seat beyond those that the license has by then', async () => {
    const license = await newFloatingLicense(server, { seats: 2 });
    await lease(server, license);
    const reply = await callDuring(
      license,
      () => server.admin.updateLicense({ ref: license.license_key, seats: 1 }),
      () => checkOut(server, license),
    );
    expect(reply).toMatchObject({ status: 409, body: { error_code: 'no_seat_available' } });
  });
});
