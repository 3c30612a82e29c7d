import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newBearer,
  newLicense,
  success,
} from '../helpers/contract-calls.ts';
import { eventually } from '../helpers/eventually.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { createTestClock } from '../helpers/test-clock.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const START = Date.UTC(2035, 0, 1, 12);
const DAY_MS = 86_400_000;
const clock = sharedClock(START);
const server = sharedServer({ clock });

const overview = () => adminSuccess(server, 'overview');
const at = (ms: number) => new Date(ms).toISOString();
const stats = async () => success(server, 'stats', {}, await newBearer(server));

const NO_STATES = { issued: 0, active: 0, expiring: 0, in_grace: 0, expired: 0, revoked: 0 };

describe('the overview of a new installation', () => {
  it('is all zeros, and creates nothing', async () => {
    const shown = await overview();
    expect(shown).toMatchObject({
      licenses: {
        total: 0,
        by_state: NO_STATES,
      },
      expiring: { days_7: 0, days_30: 0, days_90: 0, soonest: [] },
      newest_issued: null,
      failed_deliveries: 0,
      busy_pools: { count: 0, fullest: [] },
      revocation_list: null,
      authority: null,
      recent: [],
    });
    expect((await overview()).authority).toBeNull();
  });

  it('is for administrators alone', async () => {
    expectFailure(await callAdmin(server, 'overview', {}, {}), 'unauthorized');
    expectFailure(await server.get('/overview/', await newBearer(server)), 'not_found');
  });
});

describe('the licenses on the overview', () => {
  /** Ends at, just before and just after each moment at which a state changes. */
  const ends = [0, 7, 14, 30, 90, 365].flatMap((days) => [-1, 0, 1].map((ms) => START + days * DAY_MS + ms));

  beforeAll(async () => {
    for (const [index, end] of ends.entries()) {
      for (const plan of ['trial', 'standard', 'enterprise']) {
        const license = await newLicense(server, { plan, expires_at: at(end), holder: `${plan} ${index}` });
        if (index % 2 === 0 && end > START) await activateDevice(server, license);
        if (index % 5 === 0) await server.admin.revokeLicense({ ref: license.license_key });
      }
    }
  });

  it('are counted by state at any time, as in the statistics', async () => {
    for (const days of [-20, -7, 0, 7, 14, 28, 30, 90, 120, 400]) {
      for (const ms of [-1, 0, 1]) {
        clock.set(START + days * DAY_MS + ms);
        const { items } = await server.admin.listLicenses({ limit: 500 });
        const by_state = { ...NO_STATES };
        for (const { state } of items) by_state[state] += 1;
        const counted = { total: items.length, by_state };
        expect((await overview()).licenses, `${days} days ${ms} ms`).toEqual(counted);
        expect((await stats()).licenses, `${days} days ${ms} ms`).toMatchObject(counted);
      }
    }
    const { by_state } = (await overview()).licenses;
    expect(by_state.revoked).toBe(12);
  });

  it('are counted and named as they come to their end', async () => {
    const { items } = await adminSuccess(server, 'listLicenses', { limit: 500 });
    const inForce = (items as { state: string; expires_at: string; license_id: number }[])
      .filter(({ state, expires_at }) => state !== 'revoked' && Date.parse(expires_at) > START)
      .toSorted((a, b) => a.expires_at.localeCompare(b.expires_at) || a.license_id - b.license_id);
    const within = (days: number) =>
      inForce.filter(({ expires_at }) => Date.parse(expires_at) <= START + days * DAY_MS).length;
    const { expiring } = await overview();
    expect(expiring).toMatchObject({ days_7: within(7), days_30: within(30), days_90: within(90) });
    expect(within(7)).toBeGreaterThan(0);
    expect(expiring.soonest).toHaveLength(10);
    expect(expiring.soonest).toMatchObject(
      inForce.slice(0, 10).map(({ license_id, state, expires_at }) => ({ license_id, state, expires_at })),
    );
  });
});

describe('the overview shows', () => {
  it('each of the last thirty days, today the last', async () => {
    const license = await newLicense(server, { plan: 'enterprise' });
    clock.set(START + 40 * DAY_MS);
    await activateDevice(server, license);
    clock.set(START + 41 * DAY_MS);
    await activateDevice(server, license);
    await activateDevice(server, license);
    await server.post('/authorize/', { license_key: license.license_key });
    const { activations_per_day: activations, authorizations_per_day: authorizations } = await eventually(
      async () => {
        // Writes it now, but does not wait for long.
        await stats();
        const shown = await overview();
        expect(shown.authorizations_per_day.at(-1).count).toBe(1);
        return shown;
      },
    );
    for (const days of [activations, authorizations]) {
      expect(days).toHaveLength(30);
      expect(days[0].day).toBe(at(START + 12 * DAY_MS).slice(0, 10));
      expect(days[29].day).toBe(at(START + 41 * DAY_MS).slice(0, 10));
    }
    expect(activations.slice(27).map(({ count }: { count: number }) => count)).toEqual([0, 1, 2]);
  });

  it('the newest license without an activation', async () => {
    clock.set(START + 50 * DAY_MS);
    const older = await newLicense(server);
    const newer = await newLicense(server, { holder: 'Newest' });
    const { license_id, license_key, holder, licensing } = newer;
    expect((await overview()).newest_issued).toEqual({ license_id, license_key, holder, licensing });
    await activateDevice(server, newer);
    expect((await overview()).newest_issued).toMatchObject({ license_id: older.license_id });
    await server.admin.revokeLicense({ ref: older.license_key });
    // One that is about to expire is not `issued` any more.
    const { license_id: expiring } = await newLicense(server, { days: 1 });
    const found = (await overview()).newest_issued?.license_id as number;
    const { items } = await server.admin.listLicenses({ state: 'issued', limit: 1 });
    expect(found).toBe(items[0]?.license_id);
    expect(found).not.toBe(expiring);
    await server.admin.createPlan({ name: 'unused-pool', licensing: 'floating', seats: 5 });
    await newLicense(server, { plan: 'unused-pool', holder: 'Floating' });
    expect((await overview()).newest_issued).toMatchObject({ holder: 'Floating', licensing: 'floating' });
  });

  it('the authority and its list, once they are there', async () => {
    // The job that makes the list goes by the real clock.
    const real = await startTestServer();
    const { license_id } = await newLicense(real);
    const { certificate } = await real.admin.generateCertificate({ license_id, common_name: 'client' });
    await real.admin.revokeCertificate({ id: certificate.id });
    const list = await real.admin.revocationList({});
    const { authority } = await real.admin.showAuthority({});
    const shown = await adminSuccess(real, 'overview');
    const { certificate: second } = await real.admin.generateCertificate({
      license_id,
      common_name: 'second',
    });
    await real.admin.revokeCertificate({ id: second.id });
    const next = await real.admin.revocationList({});
    const later = (await adminSuccess(real, 'overview')).revocation_list;
    await real.stop();
    expect(later).toMatchObject({ number: next.crl_number, revoked: 2 });
    expect(shown.authority).toEqual({ not_after: authority.not_after });
    expect(shown.revocation_list).toEqual({
      number: list.crl_number,
      built_at: list.built_at,
      waiting: false,
      this_update: list.this_update,
      next_update: list.next_update,
      revoked: 1,
    });
  });

  it('what was done last, the newest first', async () => {
    for (let time = 0; time < 11; time += 1)
      await server.admin.createApiToken({ name: `token ${time}`, role: 'admin' });
    const { recent } = await overview();
    expect(recent).toHaveLength(10);
    expect(recent[0]).toMatchObject({ action: 'api_token.created', after: { name: 'token 10' } });
    const { items } = await server.admin.listAudit({ limit: 10 });
    expect(recent).toEqual(items.map((entry) => ({ ...entry, holder: null })));
  });

  it('whose license a change was about', async () => {
    const license = await newLicense(server, { holder: 'Ústav soudního lékařství' });
    await server.admin.issueToken({ license: license.license_key });
    await server.admin.revokeLicense({ ref: license.license_key });
    const { recent } = await overview();
    expect(recent.slice(0, 3).map(({ action, holder }: Record<string, unknown>) => [action, holder])).toEqual(
      [
        ['license.revoked', license.holder],
        ['token.issued', license.holder],
        ['license.created', license.holder],
      ],
    );
  });

  it('the current state for any number of concurrent callers', async () => {
    const before = (await overview()).licenses.total as number;
    const asked = Array.from({ length: 20 }, () => overview());
    await newLicense(server);
    expect((await overview()).licenses.total).toBe(before + 1);
    for (const { licenses } of await Promise.all(asked))
      expect([before, before + 1]).toContain(licenses.total);
  });
});

describe('the trend', () => {
  const trendClock = createTestClock(START);
  const trend = (days?: number) => adminSuccess(own, 'overviewTrend', days === undefined ? {} : { days });
  let own: TestServer;
  beforeAll(async () => {
    own = await startTestServer({ clock: trendClock });
  });
  afterAll(() => own.stop());

  it('tells how many licenses were active at the end of each day', async () => {
    /** What the list said at the end of each day. */
    const seen: { day: string; count: number }[] = [];
    const licenses: { license_key: string }[] = [];
    const issuedOn = (day: number) => licenses[day] ?? { license_key: '' };
    for (let day = 0; day < 30; day += 1) {
      const start = START + day * DAY_MS;
      trendClock.set(start);
      const license = await newLicense(own, {
        plan: 'enterprise',
        ...(day % 4 === 0 ? { days: 5 } : { expires_at: at(start + (100 + day) * DAY_MS) }),
      });
      licenses.push(license);
      if (day % 3 !== 0) await activateDevice(own, license);
      // Activated late, revoked while active, and revoked after its end.
      if (day === 12) await activateDevice(own, issuedOn(9));
      if (day === 15 || day === 20)
        await own.admin.revokeLicense({ ref: issuedOn(day === 15 ? 5 : 4).license_key });
      trendClock.set(start + DAY_MS / 2 - 1);
      const { items } = await own.admin.listLicenses({ limit: 500 });
      const active = items.filter(
        ({ state, first_activated_at: first }) =>
          state === 'active' || (state === 'expiring' && first !== null),
      );
      seen.push({ day: at(start).slice(0, 10), count: active.length });
    }
    const { active_licenses: shown } = await trend();
    expect(shown).toEqual(seen.slice(-29));
    expect(new Set(seen.map(({ count }) => count)).size).toBeGreaterThan(5);
  });

  it('has both periods, and tells denied authorizations apart', async () => {
    const license = await newLicense(own, { holder: 'Trend' });
    const { token } = await own.admin.issueToken({ license: license.license_key });
    const before = await trend(7);
    await own.post('/authorize/token/', { token });
    await own.post('/authorize/token/', { token, product_slug: 'another' });
    await activateDevice(own, license);
    const after = await eventually(async () => {
      await success(own, 'stats', {}, await newBearer(own));
      const shown = await trend(7);
      const rise = (name: string) => shown[name].at(-1).count - before[name].at(-1).count;
      expect([rise('authorizations'), rise('denied'), rise('activations')]).toEqual([2, 1, 1]);
      return shown;
    });
    for (const name of ['authorizations', 'denied', 'activations']) expect(after[name]).toHaveLength(14);
    expect(after.active_licenses).toHaveLength(8);
    expectFailure(await callAdmin(own, 'overviewTrend', { days: 8 }), 'invalid_request');
  });
});

describe('the list of what expires soon', () => {
  it('has as many licenses as the overview counts, and revoked ones only if asked for', async () => {
    const { expiring } = await overview();
    const list = async (state?: 'revoked') => {
      const request = { expires_within_days: 90, limit: 500, sort: 'expires' as const };
      return (await server.admin.listLicenses({ ...request, ...(state ? { state } : {}) })).items;
    };
    const revoked = await newLicense(server, { days: 3, holder: 'Gone' });
    await server.admin.revokeLicense({ ref: revoked.license_key });
    const shown = await list();
    expect(shown).toHaveLength(expiring.days_90);
    expect(shown.map(({ state }) => state)).not.toContain('revoked');
    expect((await list('revoked')).map(({ holder }) => holder)).toContain('Gone');
  });
});

describe('the floating licenses on the overview', () => {
  it('are those with at least 90 % of their seats in use, the fullest first', async () => {
    await server.admin.createPlan({ name: 'pool', licensing: 'floating', seats: 10 });
    const [full, nearly, free] = await Promise.all(
      ['Full', 'Nearly full', 'Free'].map((holder) => newLicense(server, { plan: 'pool', holder })),
    );
    for (const [license, units] of [
      [full, 10],
      [nearly, 9],
      [free, 8],
    ] as const)
      await success(server, 'checkoutLease', {
        license_key: license?.license_key ?? '',
        instance_id: `instance-of-${license?.license_id}`.padEnd(16, '0'),
        units,
      });
    expect((await overview()).busy_pools).toEqual({
      count: 2,
      fullest: [
        { license_id: full?.license_id, holder: 'Full', in_use: 10, seats: 10 },
        { license_id: nearly?.license_id, holder: 'Nearly full', in_use: 9, seats: 10 },
      ],
    });
  });
});
