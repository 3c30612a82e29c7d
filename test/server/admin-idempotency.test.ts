// The back office sends a form again after a lost reply, under the key of the first try.
import { describe, expect, it } from 'vitest';
import { adminContract } from '#server/contract.ts';
import type { Endpoint } from '#server/wire/endpoint.ts';
import { type AdminRowName, callAdmin, newBearer, newLicense, unique } from '../helpers/contract-calls.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';

const DAY_MS = 86_400_000;
const server = sharedServer();

/** In a separate session. */
async function callInBrowser(name: AdminRowName, input: Record<string, unknown>, key: string) {
  return callAdmin(server, name, input, { ...(await signedIn(server)), 'idempotency-key': key });
}

it('takes keys for the changes that would otherwise be made twice', () => {
  const rows: [string, Endpoint][] = Object.entries(adminContract);
  expect(rows.flatMap(([name, row]) => (row.idempotent ? [name] : [])).toSorted()).toEqual([
    'createLeaseRule',
    'createLicense',
    'generateCertificate',
    'registerWebhook',
    'renewLicense',
    'upgradeLicense',
  ]);
});

describe('the same key and content', () => {
  it('issues a license once, also after a new sign-in', async () => {
    const [key, holder] = [unique('key'), unique('Holder')];
    const first = await callInBrowser('createLicense', { holder }, key);
    expect(first.status).toBe(200);
    expect((await callInBrowser('createLicense', { holder }, key)).body).toEqual(first.body);
    expect((await server.admin.listLicenses({ search: holder, limit: 10 })).items).toHaveLength(1);
  });

  it('renews a license once', async () => {
    const { license_id, expires_at } = await newLicense(server);
    const input = { ref: String(license_id), days: 30 };
    const key = unique('key');
    const first = await callInBrowser('renewLicense', input, key);
    expect((await callInBrowser('renewLicense', input, key)).body).toEqual(first.body);
    const { license } = await server.admin.showLicense({ ref: input.ref });
    expect(Date.parse(license.expires_at) - Date.parse(expires_at)).toBe(30 * DAY_MS);
  });

  it('registers a webhook once, and shows its secret again', async () => {
    const input = { url: `https://127.0.0.1:1/${unique('hook')}`, scope: 'all' };
    const key = unique('key');
    const first = await callInBrowser('registerWebhook', input, key);
    expect(first.body).toMatchObject({ secret: expect.stringMatching(/^whsec_/u) as string });
    expect((await callInBrowser('registerWebhook', input, key)).body).toEqual(first.body);
    const { items } = await server.admin.listWebhooks({ limit: 100 });
    expect(items.filter(({ url }) => url === input.url)).toHaveLength(1);
  });
});

it('calls other content under the same key a conflict', async () => {
  const key = unique('key');
  await callInBrowser('createLicense', { holder: 'Acme' }, key);
  expectFailure(await callInBrowser('createLicense', { holder: 'Globex' }, key), 'idempotency_conflict');
});

it('keeps the keys of administrators and of API tokens apart', async () => {
  const [key, holder] = [unique('key'), unique('Holder')];
  await callInBrowser('createLicense', { holder }, key);
  const headers = { ...(await newBearer(server)), 'idempotency-key': key };
  expect((await server.post('/licenses/', { holder }, headers)).status).toBe(200);
  expect((await server.admin.listLicenses({ search: holder, limit: 10 })).items).toHaveLength(2);
});
