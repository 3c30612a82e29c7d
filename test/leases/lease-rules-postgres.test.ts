// Rules on PostgreSQL: an edit on one server applies to the next checkout on the other.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newFloatingLicense, newLeaseGroup } from '../helpers/contract-calls.ts';
import { checkOut, lease } from '../helpers/leases.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, PATIENT } from '../helpers/postgres-database.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

describe.skipIf(!hasPostgres)('two servers on one PostgreSQL database', () => {
  let one: TestServer;
  let other: TestServer;

  beforeAll(async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    const flags = { 'database-url': (await newMigratedPostgresDatabase()) + PATIENT };
    [one, other] = await Promise.all([
      startTestServer({ flags, masterKey }),
      startTestServer({ flags, masterKey }),
    ]);
  });
  afterAll(async () => {
    await Promise.all([one.stop(), other.stop()]);
  });

  it('follow the same rules from the next checkout', async () => {
    const license = await newFloatingLicense(one, { seats: 50 });
    const { name } = await newLeaseGroup(one, { members: ['eve'] });
    const { rule } = await one.admin.createLeaseRule({
      license: license.license_key,
      type: 'deny',
      match: { group: name },
    });
    const deniedOn = async (server: TestServer, user: string) =>
      (await checkOut(server, license, { user })).status === 403;
    expect([await deniedOn(one, 'eve'), await deniedOn(other, 'eve')]).toEqual([true, true]);
    await other.admin.updateLeaseGroup({ name, add_members: ['mallory'], remove_members: ['eve'] });
    expect([await deniedOn(one, 'eve'), await deniedOn(one, 'mallory')]).toEqual([false, true]);
    await one.admin.deleteLeaseRule({ id: rule.id });
    expect(await deniedOn(other, 'mallory')).toBe(false);
  });

  it('keep reserved seats while both are asked at once', async () => {
    const license = await newFloatingLicense(one, { seats: 6 });
    const match = { user: 'boss' };
    await one.admin.createLeaseRule({ license: license.license_key, type: 'reserve', match, units: 2 });
    const replies = await Promise.all(
      Array.from({ length: 20 }, (_, at) =>
        checkOut(at % 2 === 0 ? one : other, license, { user: `u${at}` }),
      ),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(4);
    await lease(one, license, match);
    await lease(other, license, match);
  });

  it('count a seat that clients share for the one that took it', async () => {
    const license = await newFloatingLicense(one, { seats: 3, count_by: 'user' });
    const limit = { type: 'max', match: { host: 'render' }, units: 1 } as const;
    await one.admin.createLeaseRule({ ...limit, license: license.license_key });
    await lease(one, license, { user: 'ada', host: 'render' });
    await lease(other, license, { user: 'ada', host: 'zeus' });
    expect((await checkOut(one, license, { user: 'bob', host: 'render' })).status).toBe(409);
    await lease(other, license, { user: 'bob', host: 'zeus' });
  });

  it('keep the order of rules that both add at once', async () => {
    const license = await newFloatingLicense(one);
    await Promise.all(
      Array.from({ length: 10 }, (_, at) =>
        (at % 2 === 0 ? one : other).admin.createLeaseRule({
          license: license.license_key,
          type: 'deny',
          match: { user: `u${at}` },
          position: 1,
        }),
      ),
    );
    const { items } = await one.admin.listLeaseRules({ license: license.license_key });
    expect(items.map(({ position }) => position)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  });
});
