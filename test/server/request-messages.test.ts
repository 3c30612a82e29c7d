// Field errors speak plain words: nothing of the validator's own text reaches a caller.
import { beforeAll, expect, it } from 'vitest';
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

it('lists every field that is wrong', async () => {
  const reply = await callAdmin(server, 'createApiToken', { networks: ['x'] });
  expect(reply.body.details).toEqual([
    { path: 'name', message: 'is required' },
    { path: 'role', message: 'is required' },
    { path: 'networks.0', message: 'must be a network such as 10.0.0.0/8 or an IP address' },
  ]);
});
