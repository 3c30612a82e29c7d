import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { fingerprintOf, startTestServer, type TestServer } from '../helpers/test-server.ts';
import { createTestClock } from '../helpers/test-clock.ts';

const DAY_MS = 86_400_000;
const clock = createTestClock(Date.UTC(2026, 0, 1));
let server: TestServer;

beforeAll(async () => {
  server = await startTestServer({ clock });
});
afterAll(() => server.stop());

async function licenseWithToken(days = 365) {
  const { license } = await server.admin.createLicense({
    holder: 'Ústav soudního lékařství',
    plan: 'professional',
  });
  const issued = await server.admin.issueToken({ license: String(license.license_id), days });
  return { license, ...issued };
}

describe('POST /authorize/token/', () => {
  it('grants a live token of the default product', async () => {
    const { license, token, authorization_token } = await licenseWithToken();
    const reply = await server.post('/authorize/token/', { token });
    expect(reply.status).toBe(200);
    expect(reply.body).toEqual({
      ok: true,
      valid: true,
      license_id: license.license_id,
      product_slug: 'my-product',
      expires_at: authorization_token.expires_at,
    });
  });

  it.each([{}, { token: '' }, { product_slug: 'my-product' }])('misses the token in %j', async (body) => {
    const reply = await server.post('/authorize/token/', body);
    expect([reply.status, reply.body.error_code]).toEqual([400, 'missing_token']);
  });

  it('takes no token from the Authorization header', async () => {
    const { token } = await licenseWithToken();
    const reply = await server.post('/authorize/token/', {}, { authorization: `Bearer ${token}` });
    expect(reply.body.error_code).toBe('missing_token');
  });

  it('refuses an unknown token', async () => {
    const reply = await server.post('/authorize/token/', { token: 'ldt_unknown' });
    expect([reply.status, reply.body.error_code]).toEqual([401, 'token_invalid']);
  });

  it('fails from the very next call after a revocation', async () => {
    const { token, authorization_token } = await licenseWithToken();
    expect((await server.post('/authorize/token/', { token })).status).toBe(200);
    await server.admin.revokeToken({ id: authorization_token.id });
    expect((await server.post('/authorize/token/', { token })).body.error_code).toBe('token_invalid');
  });

  it('ends the older token when a new one is issued for the same license and product', async () => {
    const { license, token } = await licenseWithToken();
    await server.post('/authorize/token/', { token });
    const next = await server.admin.issueToken({ license: license.license_key });
    expect(next.replaced).toMatchObject({ state: 'replaced' });
    expect((await server.post('/authorize/token/', { token })).body.error_code).toBe('token_invalid');
    expect((await server.post('/authorize/token/', { token: next.token })).body.valid).toBe(true);
  });

  it('keeps tokens of other products of the same license', async () => {
    const { license, token } = await licenseWithToken();
    const other = await server.admin.issueToken({ license: license.license_key, product: 'other' });
    expect((await server.post('/authorize/token/', { token })).body.valid).toBe(true);
    const reply = await server.post('/authorize/token/', { token: other.token, product_slug: 'other' });
    expect(reply.body).toMatchObject({ valid: true, product_slug: 'other' });
  });

  it('gives the reason if the token is active but not usable', async () => {
    const { license, token } = await licenseWithToken();
    const mismatch = await server.post('/authorize/token/', { token, product_slug: 'another' });
    expect(mismatch.body).toMatchObject({ ok: true, valid: false, reason: 'product_mismatch' });
    await server.admin.revokeLicense({ ref: license.license_key });
    const revoked = await server.post('/authorize/token/', { token });
    expect(revoked.body).toMatchObject({ ok: true, valid: false, reason: 'license_revoked' });
  });

  it('counts a license past its grace period, and a token past its validity', async () => {
    const { license } = await server.admin.createLicense({ holder: 'Trial', plan: 'trial' });
    const { token } = await server.admin.issueToken({ license: license.license_key, days: 20 });
    const start = clock.now();
    clock.advance(14 * DAY_MS);
    expect((await server.post('/authorize/token/', { token })).body).toMatchObject({
      reason: 'license_expired',
    });
    clock.advance(6 * DAY_MS);
    expect((await server.post('/authorize/token/', { token })).body.error_code).toBe('token_invalid');
    clock.set(start);
  });
});

describe('POST /authorize/', () => {
  it('covers license, device and feature', async () => {
    await server.admin.createPlan({ name: 'lab', features: ['imaging'], max_activations: 2 });
    const { license } = await server.admin.createLicense({ holder: 'Lab', plan: 'lab' });
    const { license_key } = license;
    const ask = async (fields: object) => (await server.post('/authorize/', { license_key, ...fields })).body;
    const machine_fingerprint = fingerprintOf(1);

    expect(await ask({})).toMatchObject({ authorized: true, reason: null, plan: 'lab', state: 'issued' });
    expect(await ask({ machine_fingerprint })).toMatchObject({
      authorized: false,
      reason: 'machine_not_activated',
    });
    await server.post('/activate/', { license_key, machine_fingerprint });
    expect(await ask({ machine_fingerprint, feature: 'imaging' })).toMatchObject({
      authorized: true,
      state: 'active',
    });
    expect(await ask({ feature: 'cloud' })).toMatchObject({
      authorized: false,
      reason: 'feature_not_included',
    });
    expect(await ask({ product_slug: 'another' })).toMatchObject({
      authorized: false,
      reason: 'product_mismatch',
    });
    await server.admin.updatePlan({ name: 'lab', features: ['imaging', 'cloud'] });
    expect(await ask({ feature: 'cloud' })).toMatchObject({ authorized: true });
    await server.admin.releaseDevice({ ref: license_key, machine_fingerprint });
    expect(await ask({ machine_fingerprint })).toMatchObject({ reason: 'machine_not_activated' });
    await server.admin.revokeLicense({ ref: license_key });
    expect(await ask({})).toMatchObject({ authorized: false, reason: 'license_revoked', state: 'revoked' });
  });

  it('distinguishes a mistyped key from an unknown one', async () => {
    const unknown = await server.post('/authorize/', { license_key: '00000-00000-00000-00000-00000' });
    expect([unknown.status, unknown.body.error_code]).toEqual([400, 'invalid_request']);
  });
});
