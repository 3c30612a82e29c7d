import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { adminSuccess, callAdmin, newLicense, success } from '../helpers/contract-calls.ts';
import { dumpDatabase, selectRows } from '../helpers/database.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const UNKNOWN_KEY = '01234-56789-ABCDE-FGHJK-MTS3K';
const clock = sharedClock(START);
const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const issue = (license: { license_key: string }, input: object = {}) =>
  adminSuccess(server, 'issueToken', { license: license.license_key, ...input });
const ask = (token: unknown, fields: object = {}) => server.post('/authorize/token/', { token, ...fields });

describe('an authorization token', () => {
  it('is 32 random bytes, shown once, and kept as a SHA-256 hash', async () => {
    const license = await newLicense(server);
    const body = await issue(license, { name: 'Laboratoř 1' });
    expect(body.token).toMatch(/^ldt_[\w-]{43}$/u);
    expect(body.authorization_token).toEqual({
      id: expect.any(Number) as number,
      name: 'Laboratoř 1',
      license_id: license.license_id,
      product: 'my-product',
      state: 'active',
      last_four: body.token.slice(-4) as string,
      created_at: at(START),
      expires_at: at(START + 365 * DAY_MS),
      ended_at: null,
      last_used_at: null,
    });
    const { id } = body.authorization_token;
    const rows = await selectRows(
      server.dataDir,
      `SELECT token_hash FROM authorization_tokens WHERE id = ${id}`,
    );
    expect(rows).toEqual([
      {
        token_hash: createHash('sha256')
          .update(body.token as string)
          .digest('hex'),
      },
    ]);
    expect(await dumpDatabase(server.dataDir)).not.toContain(body.token.slice(4, 40));
  });

  it.each([
    [{}, 365, 'my-product'],
    [{ days: 1 }, 1, 'my-product'],
    [{ days: 36_500, product: 'imager' }, 36_500, 'imager'],
  ])('issued with %j lasts %i days, for %s', async (input, days, product) => {
    const { token, authorization_token } = await issue(await newLicense(server), input);
    expect(authorization_token).toMatchObject({ product, expires_at: at(START + days * DAY_MS) });
    clock.set(START + days * DAY_MS - 1);
    const reply = await ask(token, { product_slug: product });
    expect(reply.body).toMatchObject({
      ok: true,
      product_slug: product,
      expires_at: authorization_token.expires_at,
    });
    clock.advance(1);
    expectFailure(await ask(token, { product_slug: product }), 'token_invalid');
  });

  it('expires to the millisecond, as does its cached copy', async () => {
    const { token } = await issue(await newLicense(server), { days: 2 });
    expect((await ask(token)).body.valid).toBe(true);
    clock.advance(2 * DAY_MS - 1);
    expect((await ask(token)).body.valid).toBe(true);
    clock.advance(1);
    expectFailure(await ask(token), 'token_invalid');
  });

  it.each([
    [{ days: 0 }, 'invalid_request'],
    [{ days: -1 }, 'invalid_request'],
    [{ days: 36_501 }, 'invalid_request'],
    [{ days: '30' }, 'invalid_request'],
    [{ product: 'Not A Slug' }, 'invalid_request'],
    [{ name: '' }, 'invalid_request'],
    [{ name: 'x'.repeat(201) }, 'invalid_request'],
    [{ license: UNKNOWN_KEY }, 'license_not_found'],
    [{ license: '999999' }, 'license_not_found'],
    [{ license: 'typo' }, 'invalid_request'],
    [{ license: 5 }, 'invalid_request'],
    [{ license: '' }, 'invalid_request'],
  ])('is not issued with %j: %s', async (input, code) => {
    const { license_key } = await newLicense(server);
    expectFailure(await callAdmin(server, 'issueToken', { license: license_key, ...input }), code);
  });

  it('needs a license', async () => {
    expectFailure(await callAdmin(server, 'issueToken', {}), 'invalid_request');
  });
});

describe('one token is active for a license and a product', () => {
  it('the newer one, from its issue on', async () => {
    const license = await newLicense(server);
    const first = await issue(license);
    const other = await issue(license, { product: 'imager' });
    clock.advance(1000);
    const second = await issue(license);
    expect(second.replaced).toEqual({
      ...first.authorization_token,
      state: 'replaced',
      ended_at: at(START + 1000),
    });
    expect(first.replaced).toBeNull();
    expect(other.replaced).toBeNull();
    expectFailure(await ask(first.token), 'token_invalid');
    expect((await ask(second.token)).body.valid).toBe(true);
    expect((await ask(other.token, { product_slug: 'imager' })).body.valid).toBe(true);
  });

  it('an expired one is not replaced but stays expired', async () => {
    const license = await newLicense(server);
    await issue(license, { days: 1 });
    clock.advance(2 * DAY_MS);
    expect((await issue(license)).replaced).toMatchObject({ state: 'expired' });
  });

  it('also when many are issued at once', async () => {
    const license = await newLicense(server);
    const issued = await Promise.all(Array.from({ length: 20 }, () => issue(license)));
    const replies = await Promise.all(issued.map(({ token }) => ask(token)));
    expect(replies.filter(({ status }) => status === 200)).toHaveLength(1);
    const { items } = await adminSuccess(server, 'listTokens', { license: license.license_key, limit: 100 });
    expect(items.filter(({ state }: { state: string }) => state === 'active')).toHaveLength(1);
    expect(items).toHaveLength(20);
  });
});

describe('a revocation', () => {
  it('applies from the next call, and causes one audit entry', async () => {
    const { token, authorization_token } = await issue(await newLicense(server));
    const { id } = authorization_token;
    expect((await ask(token)).status).toBe(200);
    const first = await adminSuccess(server, 'revokeToken', { id });
    expect(first.authorization_token).toMatchObject({ state: 'revoked', ended_at: at(START) });
    expectFailure(await ask(token), 'token_invalid');
    clock.advance(1000);
    const again = await adminSuccess(server, 'revokeToken', { id });
    expect(again.authorization_token.ended_at).toBe(at(START));
  });

  it('needs a token', async () => {
    expectFailure(await callAdmin(server, 'revokeToken', { id: 999_999 }), 'token_not_found');
    for (const id of [0, -1, '1', 2 ** 53, null]) {
      expectFailure(await callAdmin(server, 'revokeToken', { id }), 'invalid_request');
    }
  });

  it('of the license gives the reason, though the token is active', async () => {
    const license = await newLicense(server);
    const { token } = await issue(license);
    await ask(token);
    await server.admin.revokeLicense({ ref: license.license_key });
    const body = await success(server, 'authorizeToken', { token });
    expect(body).toMatchObject({ ok: true, valid: false, reason: 'license_revoked' });
  });
});

describe('the license behind a token', () => {
  it('counts in grace, not after, and again after a renewal', async () => {
    const license = await newLicense(server, { days: 10 });
    const { token } = await issue(license);
    clock.set(Date.parse(license.grace_ends_at) - 1);
    expect(await success(server, 'authorizeToken', { token })).toMatchObject({ valid: true });
    clock.advance(1);
    expect(await success(server, 'authorizeToken', { token })).toMatchObject({
      valid: false,
      reason: 'license_expired',
    });
    await server.admin.renewLicense({ ref: license.license_key });
    expect(await success(server, 'authorizeToken', { token })).toMatchObject({ valid: true });
  });

  it('counts by the grace that its plan has now', async () => {
    await server.admin.createPlan({ name: 'token-grace', grace_days: 0, duration_days: 10 });
    const license = await newLicense(server, { plan: 'token-grace' });
    const { token } = await issue(license);
    clock.set(Date.parse(license.expires_at));
    expect(await success(server, 'authorizeToken', { token })).toMatchObject({ valid: false });
    await server.admin.updatePlan({ name: 'token-grace', grace_days: 1 });
    expect(await success(server, 'authorizeToken', { token })).toMatchObject({ valid: true });
  });
});

describe('an invalid token', () => {
  it.each([
    'x',
    ' ',
    'ldt_',
    `ldt_${'A'.repeat(43)}`,
    'null',
    '\u0000',
    '\ud800',
    'ldt_é',
    'x'.repeat(4096),
    `ldt_${'A'.repeat(60_000)}`,
  ])('is invalid if there is none such: %j', async (token) => {
    const reply = await ask(token);
    expectFailure(reply, 'token_invalid');
    expect(reply.body.message).toBe('the token is invalid, expired, or revoked');
  });

  it('is invalid with a letter more, less or in another case', async () => {
    const { token } = await issue(await newLicense(server));
    for (const wrong of [
      `${token}x`,
      token.slice(0, -1),
      token.toUpperCase(),
      ` ${token}`,
      `Bearer ${token}`,
    ]) {
      expectFailure(await ask(wrong), 'token_invalid');
    }
  });

  it.each([5, true, {}, ['x']])('is an invalid request if it can be none: %j', async (token) => {
    expectFailure(await ask(token), 'invalid_request');
  });

  it('is missing in a header, a query, or nothing at all', async () => {
    const { token } = await issue(await newLicense(server));
    const headers = { authorization: `Bearer ${token}`, 'x-token': token as string };
    expectFailure(await server.post(`/authorize/token/?token=${token}`, {}, headers), 'missing_token');
    expectFailure(await ask(''), 'missing_token');
    expectFailure(await ask(undefined), 'missing_token');
    expectFailure(await ask(null), 'missing_token');
  });
});

describe('the list of tokens', () => {
  it('comes in pages, newest first, and is cut down to a license', async () => {
    const [license, other] = [await newLicense(server), await newLicense(server)];
    const made: number[] = [];
    for (const product of ['a', 'b', 'c']) {
      await issue(other, { product });
      made.unshift((await issue(license, { product })).authorization_token.id as number);
    }
    const list = (input: object) =>
      adminSuccess(server, 'listTokens', { license: license.license_key, ...input });
    const first = await list({ limit: 2 });
    const second = await list({ limit: 2, cursor: first.next_cursor });
    expect([...first.items, ...second.items].map(({ id }: { id: number }) => id)).toEqual(made);
    expect(second.next_cursor).toBeNull();
    expect(JSON.stringify(await adminSuccess(server, 'listTokens', { limit: 500 }))).not.toContain('ldt_');
    expectFailure(await callAdmin(server, 'listTokens', { license: UNKNOWN_KEY }), 'license_not_found');
    for (const input of [{ limit: 0 }, { limit: 501 }, { cursor: 'x' }, { license: 'typo' }]) {
      expectFailure(await callAdmin(server, 'listTokens', input), 'invalid_request');
    }
  });

  it('shows states by the clock', async () => {
    const license = await newLicense(server);
    await issue(license, { days: 1 });
    clock.advance(DAY_MS);
    const { items } = await adminSuccess(server, 'listTokens', { license: license.license_key });
    expect(items[0]).toMatchObject({ state: 'expired', ended_at: null, holder: license.holder });
  });
});

describe('GET /tokens/show/', () => {
  it('shows one token, whatever has become of it', async () => {
    const license = await newLicense(server);
    const { token, authorization_token } = await issue(license);
    const show = (id: unknown) => callAdmin(server, 'showToken', { id });
    await ask(token);
    await issue(license);
    const { authorization_token: shown } = await adminSuccess(server, 'showToken', {
      id: authorization_token.id as number,
    });
    expect(shown).toMatchObject({ id: authorization_token.id as number, state: 'replaced' });
    expect(JSON.stringify(shown)).not.toContain('ldt_');
    expectFailure(await show(999_999), 'token_not_found');
    expectFailure(await show('x'), 'invalid_request');
    expectFailure(await show(0), 'invalid_request');
  });
});
