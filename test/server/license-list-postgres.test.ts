// Lists, bulk changes and timelines over PostgreSQL, where nothing of SQLite's index of texts is there.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { activateDevice, adminSuccess, newLicense } from '../helpers/contract-calls.ts';
import { allLists, expectedIds, listedIds, ORDERS, plantLicenses } from '../helpers/license-listing.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const START = Date.UTC(2031, 5, 1);
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`licenses on PostgreSQL${why}`, () => {
  let server: TestServer;
  const clock = createTestClock(START);
  beforeAll(async () => {
    server = await startTestServer({ clock, flags: { 'database-url': await newPostgresDatabase() } });
  });
  afterAll(async () => {
    await server.stop();
  });

  it('are listed by filters, searches and orders as they are on SQLite', async () => {
    const { licenses, marker } = await plantLicenses(server, clock);
    for (const input of allLists([marker, `zofie ${marker}`])) {
      const expected = expectedIds(licenses, input, START);
      expect(await listedIds(server, input, 500), JSON.stringify(input)).toEqual(expected);
      expect(await adminSuccess(server, 'countLicenses', { ...input })).toMatchObject({
        count: expected.length,
      });
    }
    for (const order of ORDERS) {
      const input = { ...order, search: marker };
      expect(await listedIds(server, input, 7), JSON.stringify(order)).toEqual(
        expectedIds(licenses, input, START),
      );
    }
    for (const search of ['株式', 'élan 100%', 'a_b', 'ab_'])
      expect(await listedIds(server, { search }, 500)).toEqual(expectedIds(licenses, { search }, START));
  });

  it('are found by parts of keys and fingerprints, and by long names', async () => {
    const license = await newLicense(server, { holder: '\uFDFA'.repeat(200), plan: 'enterprise' });
    const { activation } = await activateDevice(server, license, {
      machine_fingerprint: `sha256:${'0'.repeat(40)}fedcba98${'0'.repeat(16)}`,
    });
    const searches = [
      license.license_key,
      license.license_key.slice(3, 14),
      activation.machine_fingerprint,
      '0FEDCBA9',
      '\uFDFA\uFDFA',
    ];
    for (const search of searches)
      expect(await listedIds(server, { search }, 5)).toEqual([license.license_id]);
  });

  it('are changed a hundred at a time, with timelines', async () => {
    const ids: number[] = [];
    for (let made = 0; made < 3; made += 1) ids.push((await newLicense(server)).license_id);
    clock.advance(1000);
    await adminSuccess(server, 'revokeLicenses', { license_ids: ids.slice(0, 1) });
    const reply = await adminSuccess(server, 'renewLicenses', { license_ids: ids, days: 1 });
    expect(reply).toMatchObject({ done: ids.slice(1), failed: [{ error_code: 'license_revoked' }] });
    const license = String(ids[1]);
    const first = await adminSuccess(server, 'licenseTimeline', { license, limit: 2 });
    const second = await adminSuccess(server, 'licenseTimeline', {
      license,
      limit: 2,
      cursor: first.next_cursor,
    });
    expect([...first.items, ...second.items].map(({ kind, name }) => `${kind} ${name}`)).toEqual([
      'change license.renewed',
      'event license.renewed',
      'change license.created',
    ]);
    const deliveries = await adminSuccess(server, 'listDeliveries', { license });
    expect(deliveries.items).toEqual([]);
  });
});
