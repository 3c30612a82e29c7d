// Field errors speak plain words: nothing of the validator's own text reaches a caller.
import { beforeAll, describe, expect, it } from 'vitest';
import { callAdmin, newBearer } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const server = sharedServer();
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

it.each([
  ['POST', '/activate/', {}, 'license_key: is required'],
  ['POST', '/activate/', { license_key: 5, machine_fingerprint: 'x' }, 'license_key: must be text'],
  ['POST', '/activate/', { license_key: 'x'.repeat(65) }, 'license_key: must have at most 64 characters'],
  ['POST', '/activate/', [], 'the request must be an object'],
  ['POST', '/activate/', null, 'the request must be an object'],
  ['POST', '/renew/', { license_id: 1, days: 70_000 }, 'days: must be at most 36500 (got 70000)'],
  ['POST', '/renew/', { license_id: 1, days: 1.5 }, 'days: must be a whole number'],
  ['POST', '/renew/', { license_id: 0 }, 'license_id: must be at least 1 (got 0)'],
  [
    'POST',
    '/renew/',
    { license_id: 1, expires_at: 'soon' },
    'expires_at: must be a date and time with a time zone, such as 2027-03-31T12:00:00Z',
  ],
  ['POST', '/renew/', {}, 'license_id: license_id or license_key is required'],
  ['POST', '/plans/', { name: 'x', features: 'a' }, 'features: must be a list'],
  ['POST', '/plans/', { name: 'x', archived: 'yes' }, 'archived: must be true or false'],
  ['POST', '/plans/', { name: 'A b' }, 'name: must be 1 to 64 lowercase letters, digits or hyphens'],
  [
    'POST',
    '/certs/generate/',
    { license_id: 1, common_name: 'x', key_size: 5 },
    'key_size: must be 2048, 3072 or 4096',
  ],
  [
    'POST',
    '/certs/revoke/',
    { id: 1, reason: 'bored' },
    /^reason: must be unspecified, key_compromise, .+ or privilege_withdrawn$/u,
  ],
  ['GET', '/plans/?limit=700', undefined, 'limit: must be at most 500 (got 700)'],
  ['GET', '/plans/?limit=x', undefined, 'limit: must be a whole number between 1 and 500'],
  ['DELETE', '/webhooks/', undefined, 'id: is required'],
  ['DELETE', '/webhooks/?id=x', undefined, 'id: must be a whole number of at least 1'],
] as const)('%s %s %j', async (method, path, body, message) => {
  const reply = await server.call(method, path, body, bearer);
  expectFailure(reply, 'invalid_request');
  expect(reply.body.message).toMatch(message);
  for (const detail of reply.body.details as { message: string }[])
    expect(detail.message).not.toMatch(/invalid input|expected|received|too (?:big|small)|pattern|>=|<=/iu);
});

it.each([1e20, -1e20])('lists a problem of the ID %d once', async (license_id) => {
  const { body } = await server.call('POST', '/renew/', { license_id }, bearer);
  const messages = (body.details as { message: string }[]).map(({ message }) => message);
  expect(messages).toEqual([...new Set(messages)]);
});

it('lists every field that is wrong', async () => {
  const reply = await callAdmin(server, 'createApiToken', { networks: ['x'] });
  expect(reply.body.details).toEqual([
    { path: 'name', message: 'is required', reason: 'required' },
    { path: 'role', message: 'is required', reason: 'required' },
    {
      path: 'networks.0',
      message: 'must be a network such as 10.0.0.0/8 or an IP address',
      reason: 'not_a_network',
    },
  ]);
});

describe('names the rule that a field breaks, with its values', () => {
  it.each([
    ['renew', { license_id: 1, days: 70_000 }, 'days', 'too_large', { max: 36_500 }],
    ['renew', { license_id: 0 }, 'license_id', 'too_small', { min: 1 }],
    ['renew', { license_id: 1, days: 1.5 }, 'days', 'not_a_whole_number'],
    ['renew', { license_id: 1, expires_at: 'soon' }, 'expires_at', 'not_a_time'],
    ['renew', { license_id: 1, expires_at: '1960-01-01T00:00:00Z' }, 'expires_at', 'not_in_calendar'],
    ['renew', {}, 'license_id', 'one_required', { fields: ['license_id', 'license_key'] }],
    ['renew', { license_key: 'XXXXX', days: 1 }, 'license_key', 'not_a_license_key'],
    ['plans', { name: 'A b' }, 'name', 'not_a_slug'],
    ['plans', { name: 'x', features: 'a' }, 'features', 'wrong_type'],
    ['plans', { name: 'x', features: ['a', 'A b'] }, 'features.1', 'not_a_slug'],
    [
      'certs/generate',
      { license_id: 1, common_name: 'x', key_size: 5 },
      'key_size',
      'not_a_choice',
      { choices: ['2048', '3072', '4096'] },
    ],
    ['licenses', { holder: ' ', plan: 'standard' }, 'holder', 'empty'],
    ['licenses', { holder: 'x'.repeat(201), plan: 'standard' }, 'holder', 'too_long', { max: 200 }],
    ['licenses', { holder: 'x', plan: 'standard', email: 'x' }, 'email', 'not_an_email'],
    ['licenses', { holder: 'x', plan: 'none' }, 'plan', 'plan_not_found', { plan: 'none' }],
  ] as const)('%s %j: %s %s', async (path, body, field, reason, values?: object) => {
    const { body: reply } = await server.call('POST', `/${path}/`, body, bearer);
    const detail = (reply.details as { path: string }[] | undefined)?.find((one) => one.path === field);
    expect(detail).toEqual({
      path: field,
      message: expect.any(String) as string,
      reason,
      ...(values && { values }),
    });
  });

  it('and never repeats what the caller sent', async () => {
    const secret = 'hunter2-hunter2';
    const input = { [secret]: secret, holder: [secret], plan: secret.repeat(9), email: secret };
    const { body } = await server.call('POST', '/licenses/', input, bearer);
    expect(body.details).toHaveLength(3);
    expect(JSON.stringify(body)).not.toContain(secret);
  });

  it('also in a query string', async () => {
    const { body } = await server.call('GET', '/plans/?limit=x', undefined, bearer);
    expect(body.details).toMatchObject([{ path: 'limit', reason: 'not_a_whole_number' }]);
  });
});

describe('names a field as the request does', () => {
  it.each([
    ['GET', '/leases/?license=XXXXX', undefined, 'license', 'not_a_license_key'],
    ['GET', '/leases/usage/?license=XXXXX', undefined, 'license', 'not_a_license_key'],
    ['POST', '/lease-rules/try/', { license: 'XXXXX' }, 'license', 'not_a_license_key'],
    ['POST', '/leases/return/', { lease_file: 'x' }, 'lease_file'],
    ['POST', '/validate-offline/', { license_file: 'x' }, 'license_file'],
    ['GET', '/licenses/?cursor=x', undefined, 'cursor'],
    ['GET', '/leases/?cursor=x', undefined, 'cursor'],
    ['GET', '/stats/?from=2027-01-02T00:00:00Z&to=2027-01-01T00:00:00Z', undefined, 'from'],
  ] as const)('%s %s %j: %s', async (method, path, body, field, reason?: string) => {
    const reply = await server.call(method, path, body, bearer);
    expectFailure(reply, 'invalid_request');
    const { message, details } = reply.body as { message: string; details: { message: string }[] };
    expect(details).toEqual([{ path: field, message: expect.any(String), ...(reason && { reason }) }]);
    expect(message).toBe(`${field}: ${details[0]?.message}`);
  });

  it('on the admin listener, where references have another name', async () => {
    const { body } = await callAdmin(server, 'showLicense', { ref: 'XXXXX' });
    expect(body.details).toMatchObject([{ path: 'ref', reason: 'not_a_license_key' }]);
    const activation = await callAdmin(server, 'activateOffline', { request: 'x' });
    expect(activation.body.details).toMatchObject([{ path: 'request' }]);
  });
});
