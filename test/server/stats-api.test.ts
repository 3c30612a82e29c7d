import { beforeAll, describe, expect, it } from 'vitest';
import { cliOn } from '../helpers/cli.ts';
import {
  activateDevice,
  newBearer,
  newLicense,
  SIGNING_REQUEST,
  success,
} from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 10, 12);
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server, 'integrator');
});

const at = (ms: number) => new Date(ms).toISOString();
const stats = (input: object = {}) => success(server, 'stats', { ...input }, bearer);
const NO_STATES = { issued: 0, active: 0, expiring: 0, in_grace: 0, expired: 0, revoked: 0 };

describe('GET /stats/', () => {
  it('is all zeros on a fresh data directory', async () => {
    expect(await stats()).toEqual({
      ok: true,
      licenses: { total: 0, by_state: NO_STATES, by_plan: {}, by_product: {} },
      activations: { total: 0, active: 0, per_day: [] },
      tokens: { active: 0, expired: 0, revoked: 0, replaced: 0 },
      certificates: { valid: 0, revoked: 0, expired: 0 },
      webhooks: { registrations: 0, delivered: 0, retrying: 0, failed: 0 },
      authorizations: { per_day: [] },
    });
  });

  it('counts licenses by what they are now, by plan and by product', async () => {
    await newLicense(server, { product: 'count-a' });
    await activateDevice(server, await newLicense(server, { product: 'count-a', plan: 'enterprise' }));
    await newLicense(server, { product: 'count-a', days: 2 });
    await newLicense(server, { product: 'count-a', expires_at: at(START - DAY_MS) });
    await newLicense(server, { product: 'count-a', expires_at: at(START - 14 * DAY_MS) });
    const revoked = await newLicense(server, { product: 'count-a' });
    await server.admin.revokeLicense({ ref: revoked.license_key });
    await newLicense(server, { product: 'count-b' });

    expect((await stats({ product: 'count-a' })).licenses).toEqual({
      total: 6,
      by_state: { issued: 1, active: 1, expiring: 1, in_grace: 1, expired: 1, revoked: 1 },
      by_plan: { standard: 5, enterprise: 1 },
      by_product: { 'count-a': 6 },
    });
    const all = (await stats()).licenses;
    expect(all).toMatchObject({ total: 7, by_product: { 'count-a': 6, 'count-b': 1 } });
    clock.advance(400 * DAY_MS);
    expect((await stats({ product: 'count-b' })).licenses.by_state).toEqual({ ...NO_STATES, expired: 1 });
  });

  it('counts activations, and shows them by UTC day', async () => {
    const license = await newLicense(server, { product: 'active', plan: 'enterprise' });
    const midnight = Date.UTC(2030, 0, 12);
    for (const moment of [midnight - 1, midnight, midnight + DAY_MS - 1, midnight + 2 * DAY_MS]) {
      clock.set(moment);
      const { activation } = await activateDevice(server, license);
      if (moment !== midnight) continue;
      const { machine_fingerprint } = activation;
      await server.admin.releaseDevice({ ref: license.license_key, machine_fingerprint });
    }
    clock.set(midnight + 3 * DAY_MS);
    expect((await stats({ product: 'active' })).activations).toEqual({
      total: 4,
      active: 3,
      per_day: [
        { day: '2030-01-11', count: 1 },
        { day: '2030-01-12', count: 2 },
        { day: '2030-01-14', count: 1 },
      ],
    });
    const cut = await stats({ product: 'active', from: at(midnight), to: at(midnight + DAY_MS) });
    expect(cut.activations.per_day).toEqual([{ day: '2030-01-12', count: 2 }]);
    expect(cut.activations.total).toBe(4);
    clock.advance(40 * DAY_MS);
    expect((await stats({ product: 'active' })).activations.per_day).toEqual([]);
  });

  it('counts an activation of this very moment', async () => {
    await activateDevice(server, await newLicense(server, { product: 'just-now' }));
    expect((await stats({ product: 'just-now' })).activations.per_day).toEqual([
      { day: '2030-01-10', count: 1 },
    ]);
  });

  it('counts tokens by what they are now', async () => {
    const issue = async (days = 365) => {
      const { license_key } = await newLicense(server, { product: 'tokened' });
      return {
        license_key,
        ...(await server.admin.issueToken({ license: license_key, product: 'tokened', days })),
      };
    };
    await issue();
    await issue(1);
    const replaced = await issue();
    await server.admin.issueToken({ license: replaced.license_key, product: 'tokened' });
    await server.admin.revokeToken({ id: (await issue()).authorization_token.id });
    expect((await stats({ product: 'tokened' })).tokens).toEqual({
      active: 3,
      expired: 0,
      revoked: 1,
      replaced: 1,
    });
    clock.advance(DAY_MS);
    expect((await stats({ product: 'tokened' })).tokens).toEqual({
      active: 2,
      expired: 1,
      revoked: 1,
      replaced: 1,
    });
  });

  it('counts the certificates of one product, or of all', async () => {
    const order = async (fields: object) => {
      const { license_id } = await newLicense(server, { product: 'certified' });
      const request = { license_id, common_name: 'client', csr: SIGNING_REQUEST, ...fields };
      return (await server.admin.generateCertificate(request)).certificate;
    };
    await order({});
    await order({ validity_days: 1 });
    await server.admin.revokeCertificate({ id: (await order({})).id });
    clock.advance(2 * DAY_MS);
    const counts = { valid: 1, revoked: 1, expired: 1 };
    expect((await stats({ product: 'certified' })).certificates).toEqual(counts);
    expect((await stats()).certificates).toEqual(counts);
    expect((await stats({ product: 'asked' })).certificates).toEqual({ valid: 0, revoked: 0, expired: 0 });
  });

  it('counts an authorization as soon as it was given', async () => {
    const { license_key } = await newLicense(server, { product: 'asked' });
    await server.post('/authorize/', { license_key, product_slug: 'asked' });
    /** How long replies without it took: a reply waits for a second at most until it is written. */
    const missed: number[] = [];
    await eventually(async () => {
      const begin = performance.now();
      const { per_day } = (await stats({ product: 'asked' })).authorizations;
      if (per_day.length === 0) missed.push(performance.now() - begin);
      expect(per_day).toEqual([{ day: '2030-01-10', count: 1 }]);
    });
    expect(missed.filter((ms) => ms < 950)).toEqual([]);
  });
});

describe('the period', () => {
  it.each([
    ['from=2029-01-01T00:00:00Z', 200],
    ['from=2030-01-01T00:00:00Z&to=2030-01-02T00:00:00Z', 200],
    ['to=2040-01-01T00:00:00%2B02:00', 200],
    ['from=2030-01-01T00:00:00Z&to=2030-01-01T00:00:00Z', 200],
    ['from=2030-01-02T00:00:00Z&to=2030-01-01T00:00:00Z', 400],
    ['from=1970-01-01T00:00:00Z', 400],
    ['from=2035-01-01T00:00:00Z', 400],
    ['from=yesterday', 400],
    ['from=', 400],
    ['from=10000-01-01T00:00:00Z', 400],
    ['to=1893456000', 400],
    ['from=2030-01-01T00:00:00Z&from=2030-01-02T00:00:00Z', 400],
    ['product=Not%20A%20Slug', 400],
    ['product=', 400],
  ])('?%s gives %i', async (query, status) => {
    const reply = await server.get(`/stats/?${query}`, bearer);
    if (status === 400) expectFailure(reply, 'invalid_request');
    else expect(reply.status).toBe(200);
  });
});

it('authorizations are counted by day and product, granted or not, over a restart', async () => {
  const dataDir = await keptDataDir();
  const first = await startTestServer({ clock, dataDir });
  const headers = await newBearer(first);
  const license = await newLicense(first);
  const { token } = await first.admin.issueToken({ license: license.license_key });
  await first.post('/authorize/token/', { token });
  await first.post('/authorize/token/', { token });
  await first.post('/authorize/token/', { token: 'ldt_unknown' });
  await first.post('/authorize/', { license_key: license.license_key });
  await first.stop();
  const second = await startTestServer({ clock, dataDir });
  const { body } = await second.get('/stats/', headers);
  expect(body.authorizations.per_day).toEqual([{ day: '2030-01-10', count: 4 }]);
  const day = Date.UTC(2030, 0, 10);
  const countIn = async (from: number, to: number) =>
    (await second.get(`/stats/?from=${at(from)}&to=${at(to)}`, headers)).body.authorizations.per_day.length;
  expect(await countIn(day - DAY_MS, day)).toBe(0);
  expect(await countIn(day, day + DAY_MS)).toBe(1);
  expect(await countIn(day + DAY_MS, day + 2 * DAY_MS)).toBe(0);
  const today = cliOn(dataDir).ok<{ authorizations: object }>(
    'stats',
    '--from',
    '2030-01-10',
    '--to',
    '2030-01-10',
  );
  expect((await today).authorizations).toEqual({ per_day: [{ day: '2030-01-10', count: 4 }] });
  await second.stop();
});

it('strangers cannot fill the database with products of their own making', async () => {
  const dataDir = await keptDataDir();
  const own = await startTestServer({ clock, dataDir });
  const headers = await newBearer(own);
  const ask = (at_: number) =>
    own.post('/authorize/token/', { token: 'ldt_unknown', product_slug: `made-up-${at_}` });
  for (let time = 0; time < 20; time += 1) await ask(time);
  await own.stop();
  const again = await startTestServer({ clock, dataDir });
  const counts = await Promise.all(
    Array.from({ length: 20 }, async (_, time) => {
      const { body } = await again.get(`/stats/?product=made-up-${time}`, headers);
      return body.authorizations.per_day.length as number;
    }),
  );
  await again.stop();
  expect(counts.filter((count) => count > 0)).toEqual([]);
});
