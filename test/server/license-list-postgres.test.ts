// Lists, devices, bulk changes, timelines and statistics over PostgreSQL, where nothing of SQLite's index of texts is there.
import { parse } from 'csv-parse/sync';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  newFingerprint,
  newFloatingLicense,
  newLease,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { allLists, expectedIds, listedIds, ORDERS, plantLicenses } from '../helpers/license-listing.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const START = Date.UTC(2031, 5, 1);
const MINUTE = 60_000;
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`licenses on PostgreSQL${why}`, () => {
  let server: TestServer;
  const clock = createTestClock(START);
  beforeAll(async () => {
    server = await startTestServer({ clock, flags: { 'database-url': await newMigratedPostgresDatabase() } });
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

  it('have devices that are seen, and replaced in one step', async () => {
    const license = await newLicense(server);
    const { license_key, license_id } = license;
    const { activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const devices = async () => (await server.admin.listDevices({ ref: license_key })).items;
    expect(await devices()).toMatchObject([{ last_seen_at: new Date(clock.now()).toISOString() }]);
    clock.advance(5 * MINUTE);
    await success(server, 'authorize', { license_key, machine_fingerprint });
    const seenAt = clock.now();
    const seen_at = new Date(seenAt).toISOString();
    expect(await devices()).toMatchObject([{ last_seen_at: seen_at }]);
    // After the clock was an hour ahead, neither the device nor its token is used in the future.
    const { token } = await server.admin.issueToken({ license: license_key });
    const use = async () => {
      await success(server, 'authorize', { license_key, machine_fingerprint });
      await success(server, 'authorizeToken', { token });
    };
    clock.advance(60 * MINUTE);
    await use();
    const lastUse = async () => {
      await server.admin.stats({});
      return (await server.admin.listTokens({ license: license_key })).items[0]?.last_used_at;
    };
    const ahead = new Date(clock.now()).toISOString();
    expect(await devices()).toMatchObject([{ last_seen_at: ahead }]);
    await eventually(async () => expect(await lastUse()).toBe(ahead));
    clock.set(seenAt);
    await use();
    expect(await devices()).toMatchObject([{ last_seen_at: seen_at }]);
    await eventually(async () => expect(await lastUse()).toBe(seen_at));

    clock.advance(MINUTE);
    const next = newFingerprint();
    const move = () =>
      adminSuccess(server, 'replaceDevice', {
        ref: license_key,
        machine_fingerprint,
        new_machine_fingerprint: next,
      });
    const moved = await move();
    expect(moved.released).toMatchObject({ id: activation.id, last_seen_at: seen_at });
    expect((await move()).device).toEqual(moved.device);
    expect(await devices()).toMatchObject([
      { machine_fingerprint: next, replaces_device_id: activation.id, last_seen_at: null, released_at: null },
      { id: activation.id, released_at: new Date(clock.now()).toISOString() },
    ]);
    // The seat has moved: there is no second one.
    expect(await listedIds(server, { search: next.slice(-20) }, 5)).toEqual([license_id]);
    const { status } = await server.post('/activate/', {
      license_key,
      machine_fingerprint: newFingerprint(),
    });
    expect(status).toBe(409);
  });

  it('list the seats that leases hold', async () => {
    const floating = await newFloatingLicense(server);
    const search = floating.license_key;
    const seats = async () =>
      (await server.admin.listLicenses({ search })).items.map(({ seats_in_use: used }) => used);
    expect(await seats()).toEqual([0]);
    const { lease_token } = await newLease(server, floating, { units: 2 });
    expect(await seats()).toEqual([2]);
    await success(server, 'releaseLease', { lease_token });
    expect(await seats()).toEqual([0]);
    const nodeLocked = await newLicense(server);
    const { items } = await server.admin.listLicenses({ search: nodeLocked.license_key });
    expect(items.map(({ seats_in_use: used }) => used)).toEqual([null]);
  });

  it('are found by custom fields, which become columns of the export', async () => {
    const [product, value] = [unique('fields'), unique('Züri-Projekt')];
    const fields = { 'Cost center': value };
    const { license_id, license_key: ref } = await newLicense(server, { product, custom_fields: fields });
    await newLicense(server, { product, holder: 'Without' });
    expect(await listedIds(server, { search: value.replace('Zü', 'zu') }, 5)).toEqual([license_id]);
    const download = await httpCall(`${server.adminOrigin}/admin/api/licenses/export/?product=${product}`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    expect(parse(download.text, { columns: true })).toMatchObject([
      { holder: 'Without', 'Cost center': '' },
      { 'Cost center': value },
    ]);
    await adminSuccess(server, 'updateLicense', { ref, custom_fields: { 'Cost center': null } });
    expect(await listedIds(server, { search: value }, 5)).toEqual([]);
  });

  it('are counted by plan, product and token for the statistics', async () => {
    const before = await adminSuccess(server, 'stats', {});
    const [one, two] = [unique('one'), unique('two')];
    for (const [product, plan] of [
      [one, 'standard'],
      [one, 'enterprise'],
      [one, 'enterprise'],
      [two, 'enterprise'],
    ] as const) {
      const { license_key: license } = await newLicense(server, { product, plan });
      await server.admin.issueToken({ license, product, days: 2 });
    }
    const after = await adminSuccess(server, 'stats', {});
    const sum = (counts: Record<string, number>) =>
      Object.values(counts).reduce((all, count) => all + count, 0);
    const { licenses, tokens } = after;
    expect(licenses.by_product).toEqual({ ...before.licenses.by_product, [one]: 3, [two]: 1 });
    expect(licenses.by_plan['enterprise']).toBe((before.licenses.by_plan['enterprise'] ?? 0) + 3);
    for (const counts of [licenses.by_plan, licenses.by_product, licenses.by_state])
      expect(sum(counts)).toBe(licenses.total);
    expect(tokens).toEqual({ ...before.tokens, active: before.tokens.active + 4 });
    expect(await adminSuccess(server, 'stats', { product: one })).toMatchObject({
      licenses: { total: 3, by_plan: { standard: 1, enterprise: 2 }, by_product: { [one]: 3 } },
      tokens: { active: 3, expired: 0 },
    });
  });
});
