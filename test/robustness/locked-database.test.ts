// Another program holds the database: changes wait, then say so; reading goes on; nothing is lost or stuck.
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { LOCK_WAIT_MS } from '#server/database/lock-wait.ts';
import { atOnce } from '../helpers/at-once.ts';
import { eventually } from '../helpers/eventually.ts';
import { fingerprintOf, startTestServer, type TestServer } from '../helpers/test-server.ts';

let server: TestServer;
/** As a backup script or somebody with the `sqlite3` shell would have it. */
let other: Database;
let licenseKey: string;
let token: string;
let bearer: { authorization: string };

beforeAll(async () => {
  server = await startTestServer();
  const { license } = await server.admin.createLicense({ holder: 'Locked', plan: 'enterprise' });
  licenseKey = license.license_key;
  ({ token } = await server.admin.issueToken({ license: licenseKey }));
  bearer = {
    authorization: `Bearer ${(await server.admin.createApiToken({ name: 'Reader', role: 'admin' })).api_token}`,
  };
  other = await connect({ url: null, file: join(server.dataDir, 'license-desk.db') });
});
afterAll(async () => {
  await other.close();
  await server.stop();
});

const activate = (number: number) =>
  server.post('/activate/', { license_key: licenseKey, machine_fingerprint: fingerprintOf(number) });

async function countDevices(): Promise<number> {
  return (await server.admin.listDevices({ ref: licenseKey, limit: 500 })).items.length;
}

it('answers 503 where the lock outlasts its patience, and takes the change once it is gone', async () => {
  await other.query('BEGIN IMMEDIATE');
  const refused = await activate(1);
  expect([refused.status, refused.body.error_code]).toEqual([503, 'unavailable']);
  expect(refused.body.message).toContain('locked by another program');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  const unready = await server.get('/health/ready/');
  expect(unready.status).toBe(503);
  expect(unready.body).toMatchObject({ status: 'not_ready', checks: { database: 'failing', storage: 'ok' } });
  await other.query('ROLLBACK');
  await eventually(async () =>
    expect((await server.get('/health/ready/')).body).toMatchObject({ status: 'ready' }),
  );
  expect((await activate(1)).status).toBe(200);
  expect(await countDevices()).toBe(1);
});

it('lets changes that queue behind one another wait for a lock together, not one after the other', async () => {
  await other.query('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  const replies = await atOnce(6, (number) => activate(50 + number));
  const seconds = (performance.now() - startedAt) / 1000;
  await other.query('ROLLBACK');
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(6).fill(503));
  // One after the other they take 30 seconds.
  expect(seconds).toBeGreaterThan(4);
  expect(seconds).toBeLessThan(25);
});

/** Activates devices and reads while the database is locked. @returns how long it was, and the replies to the activations */
async function changeDuringLock(firstDevice: number) {
  const devices = await countDevices();
  await other.query('BEGIN IMMEDIATE');
  const startedAt = performance.now();
  const waiting = atOnce(20, (number) => activate(firstDevice + number));
  // Reading is answered meanwhile, so the changes have all arrived.
  expect((await server.post('/authorize/token/', { token })).body.valid).toBe(true);
  expect((await server.post('/authorize/', { license_key: licenseKey })).body.authorized).toBe(true);
  expect((await server.get('/health/')).status).toBe(200);
  expect(await countDevices()).toBe(devices);
  // An integrator's first call of the day, which is noted as the token's last use.
  const plans = await atOnce(5, () => server.get('/plans/', bearer));
  expect(plans.map(({ status }) => status)).toEqual(Array<number>(5).fill(200));
  await other.query('COMMIT');
  return { lockedMs: performance.now() - startedAt, replies: await waiting };
}

it('keeps changes waiting until a lock is released, and makes each of them once', async () => {
  for (let firstDevice = 1000; ; firstDevice += 1000) {
    const devices = await countDevices();
    const { lockedMs, replies } = await changeDuringLock(firstDevice);
    // Longer than changes wait: the machine is busy.
    if (lockedMs > LOCK_WAIT_MS) continue;
    expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
    expect(await countDevices()).toBe(devices + 20);
    return;
  }
});

it('is not delayed by a long read', async () => {
  const devices = await countDevices();
  await other.query('BEGIN');
  const [before] = (await other.query('SELECT count(*) AS count FROM activations')) as [
    { count: number }[],
    unknown,
  ];
  const replies = await atOnce(20, (number) => activate(200 + number));
  expect(replies.map(({ status }) => status)).toEqual(Array<number>(20).fill(200));
  const [after] = (await other.query('SELECT count(*) AS count FROM activations')) as [
    { count: number }[],
    unknown,
  ];
  expect(after).toEqual(before);
  await other.query('COMMIT');
  expect(await countDevices()).toBe(devices + 20);
});
