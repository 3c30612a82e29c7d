import { beforeAll, describe, expect, it } from 'vitest';
import {
  activateDevice,
  newBearer,
  newFingerprint,
  newLicense,
  success,
  unique,
} from '../helpers/contract-calls.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

const authorize = (license: { license_key: string }, fields: object = {}) =>
  success(server, 'authorize', { license_key: license.license_key, ...fields });

describe('POST /authorize/', () => {
  it('has all fields of the contract, and uses the default product if none is given', async () => {
    const plan = unique('featured');
    await server.admin.createPlan({ name: plan, features: ['ocr', 'ai'] });
    const license = await newLicense(server, { plan });
    const body = await authorize(license);
    expect(body).toEqual({
      ok: true,
      authorized: true,
      reason: null,
      license_id: license.license_id,
      product_slug: 'my-product',
      plan,
      state: 'issued',
      features: ['ocr', 'ai'],
      expires_at: license.expires_at,
    });
    expect(await authorize({ license_key: license.license_key.toLowerCase().replaceAll('-', ' ') })).toEqual(
      body,
    );
  });

  it('does not examine a feature beyond its length', async () => {
    const feature = '\u{E0041}'.repeat(101);
    const refused = await server.post('/authorize/', { license_key: 'x', feature });
    expectFailure(refused, 'invalid_request');
    expect(refused.body.details).toEqual([
      {
        path: 'feature',
        message: 'must have at most 100 characters',
        reason: 'too_long',
        values: { max: 100 },
      },
    ]);
  });

  it('needs the product that the license is for', async () => {
    const license = await newLicense(server, { product: 'imager' });
    expect(await authorize(license, { product_slug: 'imager' })).toMatchObject({ authorized: true });
    const mismatch = { authorized: false, reason: 'product_mismatch', product_slug: 'imager' };
    expect(await authorize(license, { product_slug: 'carver' })).toMatchObject(mismatch);
    expect(await authorize(license)).toMatchObject(mismatch);
  });

  it('goes by the clock, to the millisecond', async () => {
    const license = await newLicense(server);
    const end = Date.parse(license.expires_at);
    const graceEnd = Date.parse(license.grace_ends_at);
    const moments: [number, string, boolean][] = [
      [end - 7 * DAY_MS, 'issued', true],
      [end - 7 * DAY_MS + 1, 'expiring', true],
      [end - 1, 'expiring', true],
      [end, 'in_grace', true],
      [graceEnd - 1, 'in_grace', true],
      [graceEnd, 'expired', false],
      [graceEnd + 5000 * DAY_MS, 'expired', false],
    ];
    for (const [moment, state, authorized] of moments) {
      clock.set(moment);
      const reason = authorized ? null : 'license_expired';
      expect(await authorize(license)).toMatchObject({ state, authorized, reason });
    }
  });

  it('names the gravest reason of several', async () => {
    const license = await newLicense(server);
    const everything = { product_slug: 'another', machine_fingerprint: newFingerprint(), feature: 'none' };
    const reasonOf = async (fields: object) => (await authorize(license, fields)).reason as string;
    const { product_slug, machine_fingerprint, feature } = everything;
    expect(await reasonOf({ feature })).toBe('feature_not_included');
    expect(await reasonOf({ feature, machine_fingerprint })).toBe('machine_not_activated');
    expect(await reasonOf({ feature, machine_fingerprint, product_slug })).toBe('product_mismatch');
    clock.set(Date.parse(license.grace_ends_at));
    expect(await reasonOf(everything)).toBe('license_expired');
    await server.admin.revokeLicense({ ref: license.license_key });
    expect(await reasonOf(everything)).toBe('license_revoked');
  });

  it('knows the devices of this license, not of another', async () => {
    const [license, other] = [await newLicense(server), await newLicense(server)];
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    expect(await authorize(license, { machine_fingerprint })).toMatchObject({ authorized: true });
    expect(await authorize(other, { machine_fingerprint })).toMatchObject({
      reason: 'machine_not_activated',
    });
  });

  it.each([
    [{ license_key: UNKNOWN_KEY }, 'license_not_found'],
    [{ license_key: `${UNKNOWN_KEY.slice(0, -1)}0` }, 'invalid_request'],
    [{ license_key: '' }, 'invalid_request'],
    [{ license_key: 'x'.repeat(65) }, 'invalid_request'],
    [{}, 'invalid_request'],
    [{ license_key: UNKNOWN_KEY, product_slug: '' }, 'invalid_request'],
    [{ license_key: UNKNOWN_KEY, machine_fingerprint: 'x' }, 'invalid_request'],
    [{ license_key: UNKNOWN_KEY, feature: '' }, 'invalid_request'],
    [{ license_key: UNKNOWN_KEY, feature: 'a\u0000' }, 'invalid_request'],
    [{ license_key: UNKNOWN_KEY, feature: 'x'.repeat(101) }, 'invalid_request'],
  ])('fails for %j with %s', async (body, code) => {
    expectFailure(await server.post('/authorize/', body), code);
  });

  it('knows a key from the moment that the license is there', async () => {
    const { license_key } = await newLicense(server);
    expect((await authorize({ license_key })).authorized).toBe(true);
  });
});

describe('every change applies from the next call', () => {
  it('of a license, its plan and its devices', async () => {
    const [plan, better] = [unique('small'), unique('large')];
    await server.admin.createPlan({ name: plan, duration_days: 10 });
    await server.admin.createPlan({ name: better, tier: 9, features: ['ocr'], grace_days: 5 });
    const license = await newLicense(server, { plan });
    const { license_id, license_key: ref } = license;
    const { machine_fingerprint } = (await activateDevice(server, license)).activation;
    const ask = (fields: object = {}) => authorize(license, { machine_fingerprint, ...fields });
    expect(await ask()).toMatchObject({ authorized: true, plan });
    await server.post('/upgrade/', { license_id, plan: better }, bearer);
    expect(await ask({ feature: 'ocr' })).toMatchObject({ authorized: true, plan: better });
    await server.call('PUT', '/plans/', { name: better, features: [] }, bearer);
    expect(await ask({ feature: 'ocr' })).toMatchObject({ reason: 'feature_not_included' });
    await server.post('/renew/', { license_id, days: 10 }, bearer);
    expect(Date.parse((await ask()).expires_at as string)).toBe(START + 20 * DAY_MS);
    await server.admin.releaseDevice({ ref, machine_fingerprint });
    expect(await ask()).toMatchObject({ reason: 'machine_not_activated' });
    await server.post('/activate/', { license_key: ref, machine_fingerprint });
    expect(await ask()).toMatchObject({ authorized: true });
    await server.admin.revokeLicense({ ref });
    expect(await ask()).toMatchObject({ reason: 'license_revoked', state: 'revoked' });
  });

  it('under load, too', async () => {
    for (let time = 0; time < 25; time += 1) {
      const license = await newLicense(server);
      const { token, authorization_token } = await server.admin.issueToken({ license: license.license_key });
      const load = new AbortController();
      const callers = Array.from({ length: 8 }, async () => {
        while (!load.signal.aborted) {
          await server.post('/authorize/token/', { token });
          await server.post('/authorize/', { license_key: license.license_key });
        }
      });
      await server.admin.revokeToken({ id: authorization_token.id });
      expectFailure(await server.post('/authorize/token/', { token }), 'token_invalid');
      await server.admin.revokeLicense({ ref: license.license_key });
      expect((await authorize(license)).reason).toBe('license_revoked');
      load.abort();
      await Promise.all(callers);
      expectFailure(await server.post('/authorize/token/', { token }), 'token_invalid');
    }
  });
});
