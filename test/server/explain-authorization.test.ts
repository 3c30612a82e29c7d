import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  activateDevice,
  adminSuccess,
  callAdmin,
  newFingerprint,
  newFloatingLicense,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });

interface Rule {
  rule: string;
  outcome: string;
  inputs: Record<string, unknown>;
  remedy: string | null;
}

interface Explained {
  authorized: boolean;
  reason: string | null;
  rules: Rule[];
}

async function explain(license: { license_key: string }, fields: object = {}) {
  const input = { license: license.license_key, ...fields };
  const body: Explained = await adminSuccess(server, 'explainAuthorization', input);
  return {
    ...body,
    outcomes: Object.fromEntries(body.rules.map(({ rule, outcome }) => [rule, outcome])),
  };
}

describe('why an authorization is denied', () => {
  it('shows every rule with what it compared, in order', async () => {
    const plan = unique('featured');
    await server.admin.createPlan({ name: plan, features: ['ocr'], max_activations: 2 });
    const license = await newLicense(server, { plan });
    const { activation } = await activateDevice(server, license);
    const { machine_fingerprint } = activation;
    const { authorized, reason, rules } = await explain(license, { machine_fingerprint, feature: 'ocr' });
    expect({ authorized, reason, rules }).toEqual({
      authorized: true,
      reason: null,
      rules: [
        { rule: 'not_revoked', outcome: 'passed', inputs: { revoked_at: null }, remedy: null },
        {
          rule: 'in_term',
          outcome: 'passed',
          inputs: {
            expires_at: license.expires_at,
            grace_ends_at: license.grace_ends_at,
            now: new Date(START).toISOString(),
          },
          remedy: null,
        },
        {
          rule: 'product',
          outcome: 'passed',
          inputs: { licensed: 'my-product', asked: 'my-product' },
          remedy: null,
        },
        { rule: 'device', outcome: 'passed', inputs: { machine_fingerprint, is_active: true }, remedy: null },
        { rule: 'feature', outcome: 'passed', inputs: { included: ['ocr'], asked: 'ocr' }, remedy: null },
        {
          rule: 'seat',
          outcome: 'passed',
          inputs: { activation_count: 1, max_activations: 2 },
          remedy: null,
        },
      ],
    });
  });

  it('continues after the first rule that fails, with a remedy for each', async () => {
    const license = await newLicense(server);
    await activateDevice(server, license);
    await server.admin.revokeLicense({ ref: license.license_key });
    clock.set(Date.parse(license.grace_ends_at));
    const { authorized, reason, rules } = await explain(license, {
      product_slug: 'another',
      machine_fingerprint: newFingerprint(),
      feature: 'none',
    });
    expect({ authorized, reason }).toEqual({ authorized: false, reason: 'license_revoked' });
    expect(rules.map(({ rule, outcome, remedy }) => [rule, outcome, remedy])).toEqual([
      ['not_revoked', 'failed', 'new_license'],
      ['in_term', 'failed', 'renew'],
      ['product', 'failed', 'other_product'],
      ['device', 'failed', 'activate'],
      ['feature', 'failed', 'upgrade'],
      ['seat', 'failed', 'release_device'],
    ]);
    expect(rules[0]?.inputs).toEqual({ revoked_at: new Date(START).toISOString() });
  });

  it('does not offer to activate a device of a floating license', async () => {
    const license = await newFloatingLicense(server);
    const { rules } = await explain(license, { machine_fingerprint: newFingerprint() });
    const own = rules.filter(({ rule }) => rule === 'device' || rule === 'seat');
    expect(own).toMatchObject([
      { outcome: 'failed', inputs: { is_active: false, licensing: 'floating' }, remedy: null },
      { outcome: 'not_asked', remedy: null },
    ]);
  });

  it('marks rules that were not checked', async () => {
    const { outcomes, authorized } = await explain(await newLicense(server));
    expect(authorized).toBe(true);
    expect(outcomes).toMatchObject({ device: 'not_asked', feature: 'not_asked', seat: 'not_asked' });
  });

  it('shows whether the device could be activated now', async () => {
    const machine_fingerprint = newFingerprint();
    const seatOf = async (license: { license_key: string }) =>
      (await explain(license, { machine_fingerprint })).outcomes['seat'];
    expect(await seatOf(await newLicense(server, { plan: 'enterprise' }))).toBe('passed');
    const single = await newLicense(server);
    expect(await seatOf(single)).toBe('passed');
    await activateDevice(server, single, { machine_fingerprint });
    expect(await seatOf(single)).toBe('passed');
    await server.admin.releaseDevice({ ref: single.license_key, machine_fingerprint });
    await activateDevice(server, single);
    expect(await seatOf(single)).toBe('failed');
  });

  it('takes a license by its id, knows no other one, and is counted nowhere', async () => {
    const product = unique('product');
    const { license_id } = await newLicense(server, { product });
    const body = await adminSuccess(server, 'explainAuthorization', { license: String(license_id) });
    expect(body).toMatchObject({ reason: 'product_mismatch' });
    expectFailure(
      await callAdmin(server, 'explainAuthorization', { license: '999999' }),
      'license_not_found',
    );
    expectFailure(await callAdmin(server, 'explainAuthorization', { license: 'x' }), 'invalid_request');
    const { authorizations } = await server.admin.stats({ product });
    expect(authorizations.per_day).toEqual([]);
  });

  it('never disagrees with /authorize/', async () => {
    const plan = unique('featured');
    await server.admin.createPlan({ name: plan, features: ['ocr'], max_activations: 2, grace_days: 10 });
    const bare = await newLicense(server, { plan, days: 20 });
    const taken = await newLicense(server, { plan, days: 20, product: 'imager' });
    const revoked = await newLicense(server, { plan, days: 20 });
    const active = await Promise.all([taken, revoked].map((license) => activateDevice(server, license)));
    await server.admin.revokeLicense({ ref: revoked.license_key });
    const stranger = newFingerprint();
    const [own = ''] = active.map(({ activation }) => activation.machine_fingerprint);
    const question = fc.record({
      license: fc.constantFrom(bare, taken, revoked),
      day: fc.constantFrom(0, 14, 20 - 1 / DAY_MS, 20, 30 - 1 / DAY_MS, 30, 500),
      fields: fc.record(
        {
          product_slug: fc.constantFrom('my-product', 'imager', 'carver'),
          machine_fingerprint: fc.constantFrom(stranger, own),
          feature: fc.constantFrom('ocr', 'ai', 'constructor'),
        },
        { requiredKeys: [] },
      ),
    });
    // One for each answer there is.
    const fits = { product_slug: 'imager', machine_fingerprint: own } as const;
    const examples: [typeof question extends fc.Arbitrary<infer Question> ? Question : never][] = [
      [{ license: taken, day: 29, fields: { ...fits, feature: 'ocr' } }],
      [{ license: taken, day: 0, fields: { ...fits, feature: 'ai' } }],
      [{ license: taken, day: 0, fields: { ...fits, machine_fingerprint: stranger, feature: 'ai' } }],
      [{ license: taken, day: 0, fields: { ...fits, product_slug: 'carver', feature: 'ai' } }],
      [{ license: taken, day: 30, fields: { ...fits, product_slug: 'carver' } }],
      [{ license: revoked, day: 30, fields: fits }],
    ];
    const verdicts = new Set<string | null>();
    await fc.assert(
      fc.asyncProperty(question, async ({ license, day, fields }) => {
        clock.set(START + day * DAY_MS);
        const { license_key } = license;
        const verdict = await success(server, 'authorize', { license_key, ...fields });
        const { authorized, reason, rules } = await explain(license, fields);
        expect([authorized, reason]).toEqual([verdict.authorized, verdict.reason]);
        const isDenied = rules.some(({ rule, outcome }) => rule !== 'seat' && outcome === 'failed');
        expect(isDenied).toBe(!authorized);
        verdicts.add(reason);
      }),
      { numRuns: 60, examples },
    );
    expect(verdicts).toHaveLength(6);
  });
});
