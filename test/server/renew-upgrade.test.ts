import { beforeAll, describe, expect, it } from 'vitest';
import {
  activateDevice,
  callAdmin,
  newBearer,
  newFingerprint,
  newLease,
  newLicense,
  publicFields,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server, 'integrator');
});

const at = (ms: number) => new Date(ms).toISOString();
const renew = (input: object) => success(server, 'renew', { ...input }, bearer);
const upgrade = (input: object) => success(server, 'upgrade', { ...input }, bearer);
const postRenew = (input: object) => server.post('/renew/', input, bearer);
const postUpgrade = (input: object) => server.post('/upgrade/', input, bearer);

async function eventsOf(licenseId: number): Promise<string[]> {
  const rows = await selectRows(
    server.dataDir,
    `SELECT name FROM events WHERE license_id = ${licenseId} ORDER BY id`,
  );
  return rows.map(({ name }: { name: string }) => name);
}

describe('POST /renew/', () => {
  it("adds the plan's duration to what is left", async () => {
    const license = publicFields(await newLicense(server));
    clock.advance(100 * DAY_MS);
    expect(await renew({ license_id: license.license_id })).toEqual({
      ok: true,
      license: { ...license, expires_at: at(START + 730 * DAY_MS), grace_ends_at: at(START + 744 * DAY_MS) },
      previous_expires_at: at(START + 365 * DAY_MS),
    });
  });

  const takenBack: [string, number, number][] = [
    ['expiring', -1, 0],
    ['in_grace', 0, 0],
    ['in_grace', 14 * DAY_MS - 1, 14 * DAY_MS - 1],
    ['expired', 14 * DAY_MS, 14 * DAY_MS],
    ['expired', 5000 * DAY_MS, 5000 * DAY_MS],
  ];
  it.each(takenBack)(
    'takes %s (%i ms past the end) back to active, from %i ms on',
    async (state, past, from) => {
      const license = await newLicense(server);
      await activateDevice(server, license);
      const end = Date.parse(license.expires_at);
      clock.set(end + past);
      const { license: before } = await server.admin.showLicense({ ref: license.license_key });
      expect(before.state).toBe(state);
      const { license: after } = await renew({ license_key: license.license_key });
      expect(after).toMatchObject({ state: 'active', expires_at: at(end + from + 365 * DAY_MS) });
    },
  );

  it.each([
    [{ days: 1 }, 366 * DAY_MS],
    [{ days: 36_500 }, 36_865 * DAY_MS],
    [{ expires_at: '2040-05-05T05:05:05Z' }, Date.UTC(2040, 4, 5, 5, 5, 5) - START],
    [{ expires_at: '2040-01-01T00:00:00-08:00' }, Date.UTC(2040, 0, 1, 8) - START],
  ])('may be told otherwise: %j', async (input, end) => {
    const { license_id } = await newLicense(server);
    expect((await renew({ license_id, ...input })).license.expires_at).toBe(at(START + end));
  });

  it.each([
    { days: 0 },
    { days: -5 },
    { days: 2.5 },
    { days: '30' },
    { days: 36_501 },
    { days: 1e21 },
    { expires_at: '10000-01-01T00:00:00Z' },
    { expires_at: '2031-02-30T00:00:00Z' },
    { expires_at: '2031-01-01' },
    { expires_at: 1_900_000_000 },
    { expires_at: null },
    { days: 30, expires_at: '2040-01-01T00:00:00Z' },
  ])('is refused: %j', async (input) => {
    const license = await newLicense(server);
    expectFailure(await postRenew({ license_id: license.license_id, ...input }), 'invalid_request');
    expect((await server.admin.showLicense({ ref: license.license_key })).license).toEqual(license);
    expect(await eventsOf(license.license_id)).toEqual([]);
  });

  it('never ends a license earlier, unless an administrator shortens it', async () => {
    const license = await newLicense(server);
    const { license_id, license_key } = license;
    const earlier = at(Date.parse(license.expires_at) - 1);
    expectFailure(await postRenew({ license_id, expires_at: earlier }), 'renewal_shortens');
    expectFailure(await postRenew({ license_id, expires_at: earlier, shorten: true }), 'renewal_shortens');
    expectFailure(
      await callAdmin(server, 'renewLicense', { ref: license_key, expires_at: earlier }),
      'renewal_shortens',
    );
    expect((await server.admin.showLicense({ ref: license_key })).license).toEqual(license);
    expect(await eventsOf(license_id)).toEqual([]);
    expect((await renew({ license_id, expires_at: license.expires_at })).license.expires_at).toBe(
      license.expires_at,
    );
    const { license: shortened } = await server.admin.renewLicense({
      ref: license_key,
      expires_at: earlier,
      shorten: true,
    });
    expect(shortened.expires_at).toBe(earlier);
  });

  it('is refused by its condition after a renewal elsewhere', async () => {
    const license = await newLicense(server);
    const { license_id, license_key: ref, expires_at: before } = license;
    const first = await renew({ license_id });
    const undo = { ref, expires_at: before, shorten: true, if_expires_at: first.license.expires_at };
    const second = await renew({ license_id });
    const refusal = await callAdmin(server, 'renewLicense', undo);
    expectFailure(refusal, 'expiry_changed');
    expect(refusal.body).toMatchObject({
      message: expect.stringContaining(second.license.expires_at) as string,
    });
    const { license: kept } = await server.admin.showLicense({ ref });
    expect(kept.expires_at).toBe(second.license.expires_at);
    await server.admin.renewLicense({ ...undo, if_expires_at: kept.expires_at });
    expect((await server.admin.showLicense({ ref })).license.expires_at).toBe(before);
  });

  it('never leaves the year 9999', async () => {
    const { license_id } = await newLicense(server, { expires_at: '9980-01-01T00:00:00Z' });
    for (let time = 0; time < 3; time += 1) {
      const reply = await postRenew({ license_id, days: 36_500 });
      if (reply.status === 200) expect(reply.body.license.grace_ends_at).toMatch(/^\d{4}-/u);
      else expectFailure(reply, 'invalid_request');
    }
    expect((await server.admin.showLicense({ ref: String(license_id) })).license.grace_ends_at).toMatch(
      /^\d{4}-/u,
    );
  });

  it('is refused for a revoked license, with 409', async () => {
    const license = await newLicense(server);
    await server.admin.revokeLicense({ ref: license.license_key });
    expectFailure(await postRenew({ license_id: license.license_id }), 'license_revoked', 409);
  });

  it('starts from the present plan', async () => {
    const license = await newLicense(server, { plan: 'trial' });
    await upgrade({ license_id: license.license_id, plan: 'standard' });
    expect((await renew({ license_id: license.license_id })).license.expires_at).toBe(
      at(START + 379 * DAY_MS),
    );
  });

  it('adds up when many come at once', async () => {
    const { license_id } = await newLicense(server);
    const replies = await Promise.all(Array.from({ length: 10 }, () => postRenew({ license_id, days: 10 })));
    expect(replies.every(({ status }) => status === 200)).toBe(true);
    const { license } = await server.admin.showLicense({ ref: String(license_id) });
    expect(license.expires_at).toBe(at(START + 465 * DAY_MS));
    expect(await eventsOf(license_id)).toEqual(Array.from({ length: 10 }, () => 'license.renewed'));
  });
});

describe('POST /upgrade/', () => {
  it('moves an expired license, which stays expired until it is renewed', async () => {
    const license = await newLicense(server, { plan: 'standard' });
    clock.set(Date.parse(license.expires_at) + 60 * DAY_MS);
    const { license_id } = license;
    const { license: upgraded } = await upgrade({ license_id, plan: 'enterprise' });
    expect(upgraded).toMatchObject({ state: 'expired', plan: 'enterprise', expires_at: license.expires_at });
    expect((await renew({ license_id })).license.state).toBe('issued');
  });

  it('keeps the end, and takes the new limits, grace and features at once', async () => {
    const plan = unique('better');
    await server.admin.createPlan({
      name: plan,
      tier: 15,
      grace_days: 3,
      max_activations: 2,
      features: ['ocr', 'ai'],
    });
    const license = await newLicense(server);
    await activateDevice(server, license);
    const body = await upgrade({ license_key: license.license_key.toLowerCase(), plan });
    expect(body.previous_plan).toBe('standard');
    expect(body.license).toMatchObject({
      plan,
      expires_at: license.expires_at,
      grace_ends_at: at(START + 368 * DAY_MS),
      max_activations: 2,
      activation_count: 1,
      features: ['ocr', 'ai'],
      state: 'active',
    });
    expect(
      (
        await server.post('/activate/', {
          license_key: license.license_key,
          machine_fingerprint: newFingerprint(),
        })
      ).status,
    ).toBe(200);
    const { body: authorization } = await server.post('/authorize/', {
      license_key: license.license_key,
      feature: 'ai',
    });
    expect(authorization).toMatchObject({ authorized: true, plan });
  });

  it('to a floating plan takes the license from its devices, and a plan for devices gives it back', async () => {
    const [pool, desks] = [unique('pool'), unique('desks')];
    await server.admin.createPlan({ name: pool, licensing: 'floating', seats: 2, tier: 15 });
    await server.admin.createPlan({ name: desks, max_activations: 2, tier: 16 });
    const license = await newLicense(server);
    const { license_id, license_key } = license;
    const { license_file, activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const device = { license_key, machine_fingerprint };
    const answers = async () => {
      const checked = await success(server, 'validateOffline', { license_file, machine_fingerprint });
      const verdicts = {
        authorize: (await success(server, 'authorize', device)).reason,
        file: checked.reason,
      };
      const explained = await server.admin.explainAuthorization({
        license: license_key,
        machine_fingerprint,
      });
      const explainedFile = await server.admin.explainLicenseFile({ license_file, machine_fingerprint });
      expect({ authorize: explained.reason, file: explainedFile.reason }).toEqual(verdicts);
      return { ...verdicts, hasNewFile: checked.license_file !== undefined };
    };
    const issueFile = () =>
      callAdmin(server, 'issueLicenseFile', { license: license_key, machine_fingerprint });
    // Twice, so that the server remembers the answer.
    for (let time = 0; time < 2; time += 1)
      expect(await answers()).toEqual({ authorize: null, file: null, hasNewFile: false });

    await upgrade({ license_id, plan: pool });
    const denied = 'machine_not_activated';
    expect(await answers()).toEqual({ authorize: denied, file: denied, hasNewFile: false });
    expectFailure(await issueFile(), 'license_is_floating');
    const { lease_token } = await newLease(server, license);
    await newLease(server, license);

    await upgrade({ license_id, plan: desks });
    expect(await answers()).toEqual({ authorize: null, file: null, hasNewFile: true });
    expect((await issueFile()).status).toBe(200);
    const beat = await server.post('/leases/heartbeat/', { lease_token });
    expect(beat.body).toMatchObject({ error_code: 'lease_gone', reason: 'license_is_node_locked' });
  });

  it.each([
    ['professional', 'professional', 'plan_unchanged'],
    ['professional', 'standard', 'not_an_upgrade'],
    ['enterprise', 'trial', 'not_an_upgrade'],
    ['trial', 'nonesuch', 'plan_not_found'],
    ['trial', 'Standard', 'invalid_request'],
    ['trial', '', 'invalid_request'],
    ['trial', null, 'invalid_request'],
  ])('from %s to %s is %s', async (plan, next, code) => {
    const license = await newLicense(server, { plan });
    expectFailure(await postUpgrade({ license_id: license.license_id, plan: next }), code);
    expect((await server.admin.showLicense({ ref: license.license_key })).license).toEqual(license);
    expect(await eventsOf(license.license_id)).toEqual([]);
  });

  it('needs a higher tier, not another plan of the same', async () => {
    const plan = unique('sideways');
    await server.admin.createPlan({ name: plan, tier: 10 });
    const { license_id } = await newLicense(server, { plan: 'standard' });
    expectFailure(await postUpgrade({ license_id, plan }), 'not_an_upgrade');
    await server.admin.updatePlan({ name: plan, tier: 11 });
    expect((await upgrade({ license_id, plan })).license.plan).toBe(plan);
  });

  it('goes neither to an archived plan nor to one of another product', async () => {
    const [archived, foreign] = [unique('archived'), unique('foreign')];
    await server.admin.createPlan({ name: archived, tier: 50, archived: true });
    await server.admin.createPlan({ name: foreign, tier: 50, product: 'imager' });
    const { license_id } = await newLicense(server);
    expectFailure(await postUpgrade({ license_id, plan: archived }), 'plan_not_found');
    expectFailure(await postUpgrade({ license_id, plan: foreign }), 'product_mismatch');
  });

  it('is refused for a revoked license, with 409', async () => {
    const { license_id } = await newLicense(server);
    await server.admin.revokeLicense({ ref: String(license_id) });
    expectFailure(await postUpgrade({ license_id, plan: 'enterprise' }), 'license_revoked', 409);
  });

  it('happens once when two ask at once', async () => {
    const { license_id } = await newLicense(server);
    const replies = await Promise.all(
      Array.from({ length: 8 }, () => postUpgrade({ license_id, plan: 'enterprise' })),
    );
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    for (const reply of replies) if (reply.status !== 200) expectFailure(reply, 'plan_unchanged');
    expect(await eventsOf(license_id)).toEqual(['license.upgraded']);
  });
});

describe.each([
  ['/renew/', {}],
  ['/upgrade/', { plan: 'enterprise' }],
])('POST %s names its license', (path, fields) => {
  const post = (input: object) => server.post(path, { ...fields, ...input }, bearer);

  it('by id, or by key however it is typed', async () => {
    for (const spell of [
      (key: string) => key,
      (key: string) => ` ${key.toLowerCase().replaceAll('-', ' ')} `,
    ]) {
      const license = await newLicense(server);
      expect((await post({ license_key: spell(license.license_key) })).body.license.license_id).toBe(
        license.license_id,
      );
    }
    const { license_id } = await newLicense(server);
    expect((await post({ license_id })).body.license.license_id).toBe(license_id);
  });

  it('by both, if they agree', async () => {
    const { license_id, license_key } = await newLicense(server);
    expect((await post({ license_id, license_key })).body.license.license_id).toBe(license_id);
  });

  it('not by two that contradict each other', async () => {
    const [one, other] = [await newLicense(server), await newLicense(server)];
    const reply = await post({ license_id: one.license_id, license_key: other.license_key });
    expect(reply.status).not.toBe(200);
    const { license } = await server.admin.showLicense({ ref: one.license_key });
    expect(license).toEqual(one);
  });

  it.each([
    {},
    { license_id: 0 },
    { license_id: -1 },
    { license_id: 1.5 },
    { license_id: '1' },
    { license_id: true },
    { license_id: 2 ** 53 },
    { license_id: 1e300 },
    { license_id: null },
    { license_key: '' },
    { license_key: 5 },
    { license_key: `${UNKNOWN_KEY.slice(0, -1)}0` },
    { license_key: 'x'.repeat(1000) },
  ])('not by %j', async (input) => expectFailure(await post(input), 'invalid_request'));

  it.each([{ license_id: 999_999 }, { license_id: Number.MAX_SAFE_INTEGER }, { license_key: UNKNOWN_KEY }])(
    'and does not find %j',
    async (input) => expectFailure(await post(input), 'license_not_found'),
  );
});
