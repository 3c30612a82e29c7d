import { beforeAll, describe, expect, it } from 'vitest';
import { publicContract } from '#server/contract.ts';
import { newBearer, newLicense, ROWS, SAMPLES, unique } from '../helpers/contract-calls.ts';
import { dumpDatabase, selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { sharedClock, sharedServer } from '../helpers/shared-server.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { startTestServer } from '../helpers/test-server.ts';

const DAY_MS = 86_400_000;
const START = Date.UTC(2030, 0, 1);
const clock = sharedClock(START);
const server = sharedServer({ clock });
let bearer: Record<string, string>;

beforeAll(async () => {
  bearer = await newBearer(server);
});

/** The bytes of the reply matter, so they are not parsed. */
async function send(path: string, body: object | string, key: string | undefined, headers = bearer) {
  const { status, text } = await httpCall(server.api + path, {
    method: 'POST',
    headers: {
      ...headers,
      'content-type': 'application/json',
      ...(key === undefined ? {} : { 'idempotency-key': key }),
    },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  return { status, text, body: JSON.parse(text) as Record<string, unknown> };
}

async function termOf(licenseId: number): Promise<number> {
  const [row] = await selectRows(server.dataDir, `SELECT term FROM licenses WHERE id = ${licenseId}`);
  return (row as { term: number }).term;
}

it('the contract says which endpoints take a key', () => {
  const paths = ROWS.filter(([, row]) => row.idempotent).map(([, row]) => row.path);
  const named = [
    '/renew/',
    '/upgrade/',
    '/licenses/',
    '/licenses/revoke/',
    '/certs/generate/',
    '/webhooks/register/',
    '/lease-rules/',
  ];
  const there = Object.values(publicContract).map((row) => row.path as string);
  expect(paths.toSorted()).toEqual(named.filter((path) => there.includes(path)).toSorted());
});

describe.each(ROWS.filter(([, row]) => row.idempotent))('%s', (name, row) => {
  it('gives the first reply again, byte for byte, and changes nothing', async () => {
    const input = await SAMPLES[name](server);
    const key = unique('key');
    const first = await send(row.path, input, key);
    expect(first.status).toBe(200);
    const before = await dumpDatabase(server.dataDir);
    clock.advance(DAY_MS - 1);
    for (const path of [row.path, row.path.slice(0, -1)]) {
      expect(await send(path, input, key)).toEqual(first);
    }
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });

  it('calls another body with the same key a conflict', async () => {
    const key = unique('key');
    const another = await SAMPLES[name](server);
    await send(row.path, await SAMPLES[name](server), key);
    const before = await dumpDatabase(server.dataDir);
    expectFailure(await send(row.path, another, key), 'idempotency_conflict');
    expect(await dumpDatabase(server.dataDir)).toBe(before);
  });
});

describe('the same body', () => {
  it('is the same in another order, with other blanks or with fields that mean nothing', async () => {
    const { license_id } = await newLicense(server);
    const key = unique('key');
    const first = await send('/renew/', `{"license_id":${license_id},"days":5}`, key);
    expect(first.status).toBe(200);
    for (const body of [
      `{ "days": 5,\n "license_id": ${license_id} }`,
      `{"days":5,"license_id":${license_id},"x":1}`,
    ]) {
      expect(await send('/renew/', body, key)).toEqual(first);
    }
    expect(await termOf(license_id)).toBe(2);
  });

  it('changes something once, however many send it at once', async () => {
    const { license_id } = await newLicense(server);
    const key = unique('key');
    const replies = await Promise.all(
      Array.from({ length: 20 }, () => send('/renew/', { license_id, days: 9 }, key)),
    );
    expect(new Set(replies.map(({ text }) => text)).size).toBe(1);
    expect(replies[0]?.status).toBe(200);
    expect(await termOf(license_id)).toBe(2);
  });
});

describe('a key', () => {
  it('is separate for each endpoint and each caller', async () => {
    const { license_id } = await newLicense(server);
    const key = unique('key');
    const other = await newBearer(server, 'integrator');
    expect((await send('/renew/', { license_id, days: 1 }, key)).status).toBe(200);
    expect((await send('/renew/', { license_id, days: 2 }, key, other)).status).toBe(200);
    expect((await send('/upgrade/', { license_id, plan: 'enterprise' }, key)).status).toBe(200);
    expect(await termOf(license_id)).toBe(3);
  });

  it('works anew after 24 hours, with any body', async () => {
    const { license_id } = await newLicense(server);
    const key = unique('key');
    await send('/renew/', { license_id, days: 1 }, key);
    clock.advance(DAY_MS + 1);
    expect((await send('/renew/', { license_id, days: 2 }, key)).status).toBe(200);
    expect(await termOf(license_id)).toBe(3);
  });

  it('is not used up by a failure', async () => {
    const license = await newLicense(server);
    const key = unique('key');
    const { license_id } = license;
    expectFailure(await send('/renew/', { license_id: 999_999 }, key), 'license_not_found');
    expectFailure(await send('/renew/', { license_id, days: 0 }, key), 'invalid_request');
    expectFailure(await send('/renew/', { license_id }, key, {}), 'unauthorized');
    expect((await send('/renew/', { license_id }, key)).status).toBe(200);
  });

  it('gives the first reply even when the same call would fail by now', async () => {
    const { license_id } = await newLicense(server);
    const key = unique('key');
    const first = await send('/renew/', { license_id }, key);
    await server.admin.revokeLicense({ ref: String(license_id) });
    expect(await send('/renew/', { license_id }, key)).toEqual(first);
    expectFailure(await send('/renew/', { license_id }, unique('key')), 'license_revoked', 409);
  });

  it('returns nothing for a revoked token', async () => {
    const { license_id } = await newLicense(server);
    const { api_token, token } = await server.admin.createApiToken({ name: 'leaving', role: 'admin' });
    const headers = { authorization: `Bearer ${api_token}` };
    await send('/renew/', { license_id }, 'leaving', headers);
    await server.admin.revokeApiToken({ id: token.id });
    expectFailure(await send('/renew/', { license_id }, 'leaving', headers), 'unauthorized');
  });

  it.each(['', ' ', 'a b', 'x'.repeat(256), 'caf\u00e9', '\u0001'.replace('\u0001', '\t')])(
    'may not be "%s"',
    async (key) => {
      const { license_id } = await newLicense(server);
      const reply = await send('/renew/', { license_id }, key);
      expectFailure(reply, 'invalid_request');
      expect(await termOf(license_id)).toBe(1);
    },
  );

  it.each(['x', 'x'.repeat(255), '!"#$%&()*+,-./:;<=>?@[]^_`{|}~', "' OR 1=1 --".replaceAll(' ', '_')])(
    'may be %s',
    async (key) => {
      const { license_id } = await newLicense(server);
      const first = await send('/renew/', { license_id }, key);
      expect(first.status).toBe(200);
      expect(await send('/renew/', { license_id }, key)).toEqual(first);
    },
  );

  it('may not be two', async () => {
    const { license_id } = await newLicense(server);
    const { status } = await httpCall(`${server.api}/renew/`, {
      method: 'POST',
      headers: { ...bearer, 'content-type': 'application/json', 'idempotency-key': ['one', 'two'] },
      body: JSON.stringify({ license_id }),
    });
    expect([status, await termOf(license_id)]).toEqual([400, 1]);
  });

  it('means nothing where no endpoint takes one', async () => {
    const { license_key } = await newLicense(server);
    for (const time of [1, 2]) {
      const body = { license_key, ...(time === 1 ? {} : { feature: 'x' }) };
      expect((await send('/authorize/', body, 'anything')).status).toBe(200);
    }
  });
});

it('first replies outlive a restart, sealed', async () => {
  const dataDir = await keptDataDir();
  const first = await startTestServer({ clock, dataDir });
  const headers = { ...(await newBearer(first)), 'idempotency-key': 'over-a-restart' };
  const { license_id, license_key } = await newLicense(first);
  const reply = await first.post('/renew/', { license_id }, headers);
  await first.stop();
  const rows = await selectRows(dataDir, 'SELECT * FROM idempotent_replies');
  expect(rows).toHaveLength(1);
  expect(JSON.stringify(rows)).not.toContain(license_key);
  expect(JSON.stringify(rows)).not.toContain(Buffer.from(license_key).toString('base64').slice(0, 16));
  const second = await startTestServer({ clock, dataDir });
  expect((await second.post('/renew/', { license_id }, headers)).body).toEqual(reply.body);
  await second.stop();
});
