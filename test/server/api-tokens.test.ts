import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { callAdmin, adminSuccess, callRow, newBearer, ROWS, SAMPLES } from '../helpers/contract-calls.ts';
import { dumpDatabase } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectCommonHeaders, expectFailure, expectSuccess } from '../helpers/strict-reply.ts';

const START = Date.UTC(2030, 0, 1);
const clock = sharedClock(START);
const BEARER_ROWS = ROWS.filter(([, row]) => row.auth === 'bearer');
const PUBLIC_ROWS = ROWS.filter(([, row]) => row.auth === 'public');
/** By the contract's words: writes to `/webhooks/…`, `/plans/`, `/licenses/…`, `/lease-rules/…` (trying aside) and `/lease-groups/`. */
const ADMIN_ONLY = ROWS.filter(
  ([, row]) =>
    row.method !== 'GET' &&
    /^\/(?:webhooks|plans|licenses|lease-rules(?!\/try)|lease-groups)\//u.test(row.path),
).map(([name]) => name);

const server = sharedServer({ clock });

const at = (ms: number) => new Date(ms).toISOString();
const newToken = (input: object = {}) =>
  adminSuccess(server, 'createApiToken', { name: 'Partner', role: 'admin', ...input });

it('the interface document says which endpoints are public', () => {
  const paths = (rows: typeof ROWS) => [...new Set(rows.map(([, row]) => row.path))].toSorted();
  expect(paths(PUBLIC_ROWS).filter((path) => !path.startsWith('/certs/'))).toEqual([
    '/activate/',
    '/authorize/',
    '/authorize/token/',
    '/health/',
    '/health/live/',
    '/health/ready/',
    '/leases/borrow/',
    '/leases/checkout/',
    '/leases/heartbeat/',
    '/leases/release/',
    '/leases/return/',
    '/public-key/',
    '/validate-offline/',
  ]);
  const others = paths(BEARER_ROWS).filter((path) => !/^\/(?:certs|webhooks)\//u.test(path));
  expect(others).toEqual([
    '/lease-groups/',
    '/lease-rules/',
    '/lease-rules/import/',
    '/lease-rules/try/',
    '/leases/',
    '/leases/denials/',
    '/leases/pools/',
    '/leases/reclaim/',
    '/leases/usage/',
    '/licenses/',
    '/licenses/release/',
    '/licenses/revoke/',
    '/licenses/show/',
    '/plans/',
    '/renew/',
    '/stats/',
    '/upgrade/',
  ]);
});

describe.each(BEARER_ROWS)('%s', (name, row) => {
  it('needs a token that is known, as a Bearer', async () => {
    const { api_token } = await newToken();
    const wrong = [
      undefined,
      '',
      'Bearer',
      'Bearer ',
      'Bearer ldk_unknown',
      `Bearer ${api_token}x`,
      `Bearer ${api_token.slice(0, -1)}`,
      `Bearer ${api_token.toUpperCase()}`,
      `Bearer ${api_token} ${api_token}`,
      `Bearer "${api_token}"`,
      `Basic ${Buffer.from(`x:${api_token}`).toString('base64')}`,
      `Token ${api_token}`,
      api_token,
      `Bearer ${server.runtimeSecret}`,
      `Bearer ${'x'.repeat(8000)}`,
      'Bearer \u00e9',
    ];
    for (const authorization of wrong) {
      const reply = await jsonCall(server.api + row.path, {
        method: row.method,
        headers: authorization === undefined ? {} : { authorization },
      });
      expectFailure(reply, 'unauthorized');
      expect(reply.headers.get('www-authenticate')).toMatch(/^Bearer/u);
      expectCommonHeaders(reply.headers);
    }
  });

  it('does not accept a token in query, body or cookie', async () => {
    const { api_token } = await newToken();
    const input = { ...(await SAMPLES[name](server)), api_token, token: api_token, access_token: api_token };
    const cookie = `license_desk_session=${api_token}; api_token=${api_token}`;
    expectFailure(await callRow(server, row, input, { cookie }), 'unauthorized');
  });

  it('takes the scheme in any case', async () => {
    const { api_token } = await newToken();
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expectSuccess(
        row,
        await callRow(server, row, await SAMPLES[name](server), { authorization: `${scheme} ${api_token}` }),
      );
    }
  });

  it('refuses a token from the moment it is revoked', async () => {
    const { api_token, token } = await newToken();
    const headers = { authorization: `Bearer ${api_token}` };
    expectSuccess(row, await callRow(server, row, await SAMPLES[name](server), headers));
    await adminSuccess(server, 'revokeApiToken', { id: token.id });
    expectFailure(await callRow(server, row, await SAMPLES[name](server), headers), 'unauthorized');
  });

  it(`is ${ADMIN_ONLY.includes(name) ? 'not ' : ''}for integrators`, async () => {
    const reply = await callRow(
      server,
      row,
      await SAMPLES[name](server),
      await newBearer(server, 'integrator'),
    );
    if (ADMIN_ONLY.includes(name)) expectFailure(reply, 'forbidden');
    else expectSuccess(row, reply);
  });
});

describe('an integrator', () => {
  it('changes nothing through a forbidden call', async () => {
    const headers = await newBearer(server, 'integrator');
    const before = await dumpDatabase(server.dataDir);
    expectFailure(await server.post('/plans/', { name: 'mine' }, headers), 'forbidden');
    expectFailure(await server.call('PUT', '/plans/', { name: 'trial', tier: 9 }, headers), 'forbidden');
    expectFailure(await server.call('DELETE', '/plans/?name=trial', undefined, headers), 'forbidden');
    expectFailure(await server.post('/plans/', { name: 'Not Valid' }, headers), 'forbidden');
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });
});

describe.each(PUBLIC_ROWS)('%s', (name, row) => {
  it('asks for no token, and minds no wrong one', async () => {
    expectSuccess(row, await callRow(server, row, await SAMPLES[name](server)));
    expectSuccess(
      row,
      await callRow(server, row, await SAMPLES[name](server), { authorization: 'Bearer nonsense' }),
    );
  });
});

describe('an API token', () => {
  it('is shown once, and kept as a hash', async () => {
    const body = await newToken({ name: 'Partner – Ω' });
    expect(body.api_token).toMatch(/^ldk_[\w-]{43}$/u);
    expect(body.token).toEqual({
      id: expect.any(Number) as number,
      name: 'Partner – Ω',
      role: 'admin',
      last_four: body.api_token.slice(-4) as string,
      created_at: at(START),
      last_used_at: null,
      expires_at: null,
      networks: [],
      previous: null,
      revoked_at: null,
    });
    expect(JSON.stringify(await callAdmin(server, 'listApiTokens'))).not.toContain(body.api_token);
    expect(await dumpDatabase(server.dataDir)).not.toContain(body.api_token.slice(4, 40));
  });

  it('is listed with when it was last used, to the minute', async () => {
    const { api_token, token } = await newToken();
    const use = () => server.get('/plans/', { authorization: `Bearer ${api_token}` });
    const lastUsed = async () => {
      const { items } = await adminSuccess(server, 'listApiTokens', { limit: 500 });
      return items.find(({ id }: { id: number }) => id === token.id).last_used_at as string;
    };
    await use();
    expect(await lastUsed()).toBe(at(START));
    clock.advance(59_999);
    await use();
    expect(await lastUsed()).toBe(at(START));
    clock.advance(1);
    await use();
    expect(await lastUsed()).toBe(at(START + 60_000));
    // The clock was ahead, and is right again.
    clock.set(START);
    await use();
    expect(await lastUsed()).toBe(at(START));
  });

  it('stays revoked since the first time', async () => {
    const { token } = await newToken();
    const first = await adminSuccess(server, 'revokeApiToken', { id: token.id });
    clock.advance(1000);
    expect(await adminSuccess(server, 'revokeApiToken', { id: token.id })).toEqual(first);
    expect(first.token.revoked_at).toBe(at(START));
  });

  it.each([
    [{ role: 'admin' }, 'invalid_request'],
    [{ name: 'x' }, 'invalid_request'],
    [{ name: 'x', role: 'admin', expires_at: '2030-01-01T00:00:00Z' }, 'invalid_request'],
    [{ name: 'x', role: 'admin', expires_at: 'tomorrow' }, 'invalid_request'],
    [{ name: 'x', role: 'admin', networks: ['10.0.0.0/33'] }, 'invalid_request'],
    [{ name: 'x', role: 'admin', networks: ['::ffff:10.0.0.0/8'] }, 'invalid_request'],
    [{ name: 'x', role: 'admin', networks: ['here'] }, 'invalid_request'],
    [{ name: 'x', role: 'admin', networks: '10.0.0.0/8' }, 'invalid_request'],
    [{ name: '' }, 'invalid_request'],
    [{ name: 'x'.repeat(201) }, 'invalid_request'],
    [{ name: 'a\u0000' }, 'invalid_request'],
    [{ name: 'x', role: 'owner' }, 'invalid_request'],
    [{ name: 'x', role: null }, 'invalid_request'],
  ])('is not made of %j', async (input, code) => {
    expectFailure(await callAdmin(server, 'createApiToken', input), code);
  });

  it('is not revoked where there is none', async () => {
    expectFailure(await callAdmin(server, 'revokeApiToken', { id: 999_999 }), 'token_not_found');
    for (const id of [0, -1, '1', 1.5, 2 ** 53, null]) {
      expectFailure(await callAdmin(server, 'revokeApiToken', { id }), 'invalid_request');
    }
  });
});

describe('an API token that is limited', () => {
  const plans = (api_token: string) => server.get('/plans/', { authorization: `Bearer ${api_token}` });

  it('is refused from the moment it expires', async () => {
    const { api_token, token } = await newToken({ expires_at: at(START + 60_000) });
    expect(token.expires_at).toBe(at(START + 60_000));
    clock.advance(59_999);
    expect((await plans(api_token)).status).toBe(200);
    clock.advance(1);
    const reply = await plans(api_token);
    expectFailure(reply, 'unauthorized');
    expect(reply.body.message).toBe('the API token expired at 2030-01-01T00:01:00.000Z');
    expect(reply.headers.get('www-authenticate')).toBe('Bearer');
  });

  it.each([
    [['127.0.0.0/8'], 200],
    [['10.0.0.0/8', '127.0.0.1'], 200],
    [['::ffff:127.0.0.0/104'], 200],
    [['10.0.0.0/8'], 401],
    [['::1/128', 'fd00::/8'], 401],
  ])('to the networks %j: %i from 127.0.0.1', async (networks, status) => {
    const { api_token, token } = await newToken({ networks });
    expect(token.networks).toEqual(networks);
    const reply = await plans(api_token);
    expect(reply.status).toBe(status);
    if (status === 401) {
      expectFailure(reply, 'unauthorized');
      expect(reply.body.message).toBe('the API token must not be used from 127.0.0.1');
    }
  });
});

describe('a rotated API token', () => {
  const use = (api_token: string) => server.get('/plans/', { authorization: `Bearer ${api_token}` });
  const listed = async (id: number) => {
    const { items } = await adminSuccess(server, 'listApiTokens', { limit: 500 });
    return items.find((item: { id: number }) => item.id === id);
  };

  it('works with both secrets until the overlap ends', async () => {
    const first = await newToken({ role: 'integrator', networks: ['127.0.0.0/8'] });
    const { id } = first.token;
    const rotated = await adminSuccess(server, 'rotateApiToken', { id, overlap_days: 2 });
    expect(rotated.api_token).toMatch(/^ldk_[\w-]{43}$/u);
    expect(rotated.token).toMatchObject({
      id,
      name: 'Partner',
      role: 'integrator',
      networks: ['127.0.0.0/8'],
      last_four: rotated.api_token.slice(-4) as string,
      previous: {
        last_four: first.api_token.slice(-4) as string,
        expires_at: at(START + 2 * 86_400_000),
        last_used_at: null,
      },
    });
    expect((await use(first.api_token)).status).toBe(200);
    expect((await use(rotated.api_token)).status).toBe(200);
    // Written after the reply.
    await eventually(async () =>
      expect(await listed(id)).toMatchObject({
        last_used_at: at(START),
        previous: { last_used_at: at(START) },
      }),
    );
    clock.advance(2 * 86_400_000);
    const late = await use(first.api_token);
    expectFailure(late, 'unauthorized');
    expect(late.body.message).toBe('the API token was replaced by a rotation; use the new one');
    expect((await use(rotated.api_token)).status).toBe(200);
    expect((await listed(id)).previous).toBeNull();
  });

  it('has the use of the old secret noted with it, even if it was made during the rotation', async () => {
    const first = await newToken();
    const { id } = first.token;
    // As a backup script or the `sqlite3` shell holds it.
    const other = await connect({ url: null, file: join(server.dataDir, 'license-desk.db') });
    onTestFinished(() => other.close());
    await other.query('BEGIN IMMEDIATE');
    const rotating = adminSuccess(server, 'rotateApiToken', { id });
    // Reading is answered meanwhile, so the rotation has arrived.
    await listed(id);
    expect((await use(first.api_token)).status).toBe(200);
    await other.query('ROLLBACK');
    await rotating;
    expect(await listed(id)).toMatchObject({ last_used_at: null, previous: { last_used_at: at(START) } });
  });

  it('has two secrets at most, and none after it is revoked', async () => {
    const first = await newToken();
    const { id } = first.token;
    const second = await adminSuccess(server, 'rotateApiToken', { id });
    const third = await adminSuccess(server, 'rotateApiToken', { id });
    expectFailure(await use(first.api_token), 'unauthorized');
    expect((await use(second.api_token)).status).toBe(200);
    expect((await use(third.api_token)).status).toBe(200);
    await adminSuccess(server, 'revokeApiToken', { id });
    for (const { api_token } of [second, third]) expectFailure(await use(api_token), 'unauthorized');
    expectFailure(await callAdmin(server, 'rotateApiToken', { id }), 'token_not_found');
  });

  it('can drop the old secret immediately, and overlaps 30 days at most', async () => {
    const first = await newToken();
    const { id } = first.token;
    await adminSuccess(server, 'rotateApiToken', { id, overlap_days: 0 });
    for (const setBackMs of [0, 3_600_000]) {
      clock.advance(-setBackMs);
      const refused = await use(first.api_token);
      expectFailure(refused, 'unauthorized');
      expect(refused.body.message).toBe('the API token was replaced by a rotation; use the new one');
      expect(await listed(id)).toMatchObject({ previous: null });
    }
    for (const overlap_days of [-1, 30.5, '1'])
      expectFailure(await callAdmin(server, 'rotateApiToken', { id, overlap_days }), 'invalid_request');
  });
});

it('an API token without the word Bearer is explained', async () => {
  const { api_token } = await newToken();
  const reply = await server.get('/plans/', { authorization: api_token });
  expectFailure(reply, 'unauthorized');
  expect(reply.body.message).toContain('lacks the word Bearer');
  expect(JSON.stringify(reply.body)).not.toContain(api_token);
});
