// Many callers at the same time: over real HTTP, what may happen once happens once.
import { beforeAll, describe, expect, it } from 'vitest';
import { atOnce } from '../helpers/at-once.ts';
import { selectRows } from '../helpers/database.ts';
import { sharedServer } from '../helpers/shared-server.ts';
import { fingerprintOf, type Reply } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const server = sharedServer();
let bearer: { authorization: string };

beforeAll(async () => {
  const { api_token } = await server.admin.createApiToken({ name: 'Races', role: 'admin' });
  bearer = { authorization: `Bearer ${api_token}` };
});

async function newLicense(plan = 'standard') {
  const { license } = await server.admin.createLicense({ holder: 'Crowd', plan });
  return license;
}

/** How often each outcome occurs: `{200: 1, activation_limit_reached: 49}`. */
function outcomes(replies: Reply[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { status, body } of replies) {
    const outcome = (body as { error_code?: string }).error_code ?? String(status);
    counts[outcome] = (counts[outcome] ?? 0) + 1;
  }
  return counts;
}

function different(values: unknown[]): number {
  return new Set(values.map((value) => JSON.stringify(value))).size;
}

async function eventsOf(licenseId: number): Promise<string[]> {
  const rows = await selectRows(server.dataDir, `SELECT name FROM events WHERE license_id = ${licenseId}`);
  return rows.map(({ name }) => name as string);
}

async function auditOf(subject: string, action: string): Promise<number> {
  const { items } = await server.admin.listAudit({ subject, limit: 500 });
  return items.filter((entry) => entry.action === action).length;
}

describe('activation', () => {
  it('gives one seat to one of 50 devices', async () => {
    const { license_id, license_key } = await newLicense();
    const replies = await atOnce(50, (number) =>
      server.post('/activate/', { license_key, machine_fingerprint: fingerprintOf(number) }),
    );
    expect(outcomes(replies)).toEqual({ 200: 1, activation_limit_reached: 49 });
    const { license } = await server.admin.showLicense({ ref: license_key });
    const winner = replies.find(({ status }) => status === 200) as Reply;
    expect(license.activation_count).toBe(1);
    expect(license.machine_fingerprint).toBe(winner.body.activation.machine_fingerprint);
    expect(await eventsOf(license_id)).toEqual(['license.activated']);
    expect(await auditOf(`license:${license_id}`, 'device.activated')).toBe(1);
  });

  it('gives the same device the same activation 50 times', async () => {
    const { license_id, license_key } = await newLicense();
    const device = { license_key, machine_fingerprint: fingerprintOf(1) };
    const replies = await atOnce(50, () => server.post('/activate/', device));
    expect(outcomes(replies)).toEqual({ 200: 50 });
    expect(different(replies.map(({ body }) => body.activation))).toBe(1);
    expect(replies.every(({ body }) => body.license.activation_count === 1)).toBe(true);
    const { items } = await server.admin.listDevices({ ref: license_key });
    expect(items).toHaveLength(1);
    expect(await eventsOf(license_id)).toEqual(['license.activated']);
  });

  it('never takes more seats than there are while devices come and go', async () => {
    const { license_id, license_key } = await newLicense('professional');
    await atOnce(20, async (number) => {
      const machine_fingerprint = fingerprintOf(number);
      const { status } = await server.post('/activate/', { license_key, machine_fingerprint });
      if (status === 200 && number % 2 === 0)
        await server.admin.releaseDevice({ ref: license_key, machine_fingerprint });
    });
    const { license } = await server.admin.showLicense({ ref: license_key });
    const { items } = await server.admin.listDevices({ ref: license_key });
    expect(license.activation_count).toBe(items.filter((device) => device.released_at === null).length);
    expect(license.activation_count).toBeLessThanOrEqual(5);
    expect(await eventsOf(license_id)).toHaveLength(items.length);
  });
});

describe('authorization tokens', () => {
  it('leaves one of 20 tokens issued at once for one product', async () => {
    const { license_key } = await newLicense();
    const issued = await atOnce(20, () => server.admin.issueToken({ license: license_key }));
    const { items } = await server.admin.listTokens({ license: license_key });
    expect(items.map(({ state }) => state)).toEqual(['active', ...Array<string>(19).fill('replaced')]);
    expect(issued.filter(({ replaced }) => replaced === null)).toHaveLength(1);

    const replies = await Promise.all(issued.map(({ token }) => server.post('/authorize/token/', { token })));
    expect(outcomes(replies)).toEqual({ 200: 1, token_invalid: 19 });
    const working = issued[replies.findIndex(({ status }) => status === 200)];
    expect(working?.authorization_token.id).toBe(items[0]?.id);
  });

  it('keeps one for each product', async () => {
    const { license_key } = await newLicense();
    await atOnce(20, (number) =>
      server.admin.issueToken({ license: license_key, product: `product-${number % 4}` }),
    );
    const { items } = await server.admin.listTokens({ license: license_key });
    const active = items.filter(({ state }) => state === 'active').map(({ product }) => product);
    expect(active.toSorted()).toEqual(['product-0', 'product-1', 'product-2', 'product-3']);
  });
});

describe('renewal', () => {
  it('renews once for one Idempotency-Key', async () => {
    const { license_id, expires_at } = await newLicense();
    const headers = { ...bearer, 'idempotency-key': 'order-1' };
    const replies = await atOnce(20, () => server.post('/renew/', { license_id, days: 10 }, headers));
    expect(outcomes(replies)).toEqual({ 200: 20 });
    expect(different(replies.map(({ body }) => body))).toBe(1);
    const { license } = await server.admin.showLicense({ ref: String(license_id) });
    expect(Date.parse(license.expires_at)).toBe(Date.parse(expires_at) + 10 * DAY_MS);
    expect(await eventsOf(license_id)).toEqual(['license.renewed']);
  });

  it('takes one of two bodies for one Idempotency-Key', async () => {
    const { license_id, expires_at } = await newLicense();
    const headers = { ...bearer, 'idempotency-key': 'order-2' };
    const replies = await atOnce(20, (number) =>
      server.post('/renew/', { license_id, days: 1 + (number % 2) }, headers),
    );
    expect(outcomes(replies)).toEqual({ 200: 10, idempotency_conflict: 10 });
    const { license } = await server.admin.showLicense({ ref: String(license_id) });
    const days = (Date.parse(license.expires_at) - Date.parse(expires_at)) / DAY_MS;
    expect([1, 2]).toContain(days);
  });

  it('adds every term without a key', async () => {
    const { license_id, expires_at } = await newLicense();
    const replies = await atOnce(20, () => server.post('/renew/', { license_id, days: 10 }, bearer));
    expect(outcomes(replies)).toEqual({ 200: 20 });
    expect(different(replies.map(({ body }) => body.previous_expires_at))).toBe(20);
    const { license } = await server.admin.showLicense({ ref: String(license_id) });
    expect(Date.parse(license.expires_at)).toBe(Date.parse(expires_at) + 200 * DAY_MS);
    const [row] = await selectRows(server.dataDir, `SELECT term FROM licenses WHERE id = ${license_id}`);
    expect(row.term).toBe(21);
  });
});

describe('administration', () => {
  it('creates one plan per name', async () => {
    const replies = await atOnce(20, () => server.post('/plans/', { name: 'crowded' }, bearer));
    expect(outcomes(replies)).toEqual({ 200: 1, plan_exists: 19 });
  });

  it('upgrades once', async () => {
    const { license_id } = await newLicense();
    const request = { license_id, plan: 'professional' };
    const replies = await atOnce(20, () => server.post('/upgrade/', request, bearer));
    expect(outcomes(replies)).toEqual({ 200: 1, plan_unchanged: 19 });
    expect(await eventsOf(license_id)).toEqual(['license.upgraded']);
  });

  it('never deletes a plan that a license is being made of', async () => {
    const { plan } = await server.admin.createPlan({ name: 'contested' });
    const outcome = await Promise.allSettled([
      ...Array.from({ length: 5 }, () => server.admin.createLicense({ holder: 'Quick', plan: 'contested' })),
      server.admin.deletePlan({ id: plan.id }),
      ...Array.from({ length: 5 }, () => server.admin.createLicense({ holder: 'Slow', plan: 'contested' })),
    ]);
    const { items } = await server.admin.listLicenses({ limit: 500 });
    const made = items.filter((license) => license.plan === 'contested');
    const deleted = outcome[5]?.status === 'fulfilled';
    expect(deleted ? made.length === 0 : made.length === 10).toBe(true);
  });

  it('revokes once, with the first reason', async () => {
    const { license_id } = await newLicense();
    const replies = await atOnce(20, (number) =>
      server.admin.revokeLicense({ ref: String(license_id), reason: `reason ${number}` }),
    );
    expect(different(replies)).toBe(1);
    expect(await eventsOf(license_id)).toEqual(['license.revoked']);
    expect(await auditOf(`license:${license_id}`, 'license.revoked')).toBe(1);
  });

  it('signs in one of ten who have the same code', async () => {
    const code = new URL(server.signInAddress).searchParams.get('code');
    const replies = await atOnce(10, async () => {
      const response = await fetch(`${server.adminOrigin}/admin/api/session/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
      return { status: response.status, cookies: response.headers.getSetCookie() };
    });
    const signedIn = replies.find(({ status }) => status === 200);
    expect(replies.map(({ status }) => status).toSorted()).toEqual([200, ...Array<number>(9).fill(401)]);
    expect(signedIn?.cookies).toHaveLength(1);
    expect(replies.flatMap(({ cookies }) => cookies)).toHaveLength(1);
  });
});
