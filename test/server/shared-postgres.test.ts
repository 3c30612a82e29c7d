// Servers on one PostgreSQL database: they go by its clock, tell each other what changed, and answer when it does not.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { eventually } from '../helpers/eventually.ts';
import { hasFaketime, movableClock } from '../helpers/faketime.ts';
import { listening } from '../helpers/live-client.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../helpers/postgres-cluster.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { fingerprintOf } from '../helpers/test-server.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
const DAY_SECONDS = 86_400;
const missing = [hasPostgres ? [] : ['postgresql'], hasFaketime() ? [] : ['faketime']].flat();
const why = missing.length === 0 ? '' : ` (skipped: not installed: ${missing.join(', ')})`;

describe.skipIf(missing.length > 0)(`servers on one PostgreSQL database${why}`, () => {
  let postgres: PostgresCluster;
  let right: ServerProcess;
  let ahead: ServerProcess;
  const clock = movableClock();

  const serve = (url: string, prefix: string[] = []) =>
    startServerProcess({
      dataDir: temporaryDirectory(),
      prefix,
      flags: { 'database-url': url },
      env: { LICENSE_DESK_MASTER_KEY: MASTER_KEY },
    });

  beforeAll(async () => {
    postgres = await startPostgres();
    const url = await postgres.newDatabase();
    clock.set(120 / DAY_SECONDS);
    right = await serve(url);
    ahead = await serve(url, clock.prefix);
  });
  afterAll(async () => {
    postgres.thaw();
    for (const server of [right, ahead]) await server.kill();
    await postgres.stop();
  });

  const alertsOf = async ({ admin }: ServerProcess) =>
    (await admin.listAlerts({})).alerts.filter(({ code }) => code === 'clock_skewed');

  describe('with clocks that differ', () => {
    it('writes the time of the database', async () => {
      const before = Date.now();
      const { license } = await ahead.admin.createLicense({ holder: 'Uhr', days: 30 });
      const after = Date.now();
      const issued = Date.parse(license.issued_at);
      // Timestamps have no milliseconds, and clocks of one machine are read one after the other.
      expect(issued).toBeGreaterThanOrEqual(before - 2000);
      expect(issued).toBeLessThanOrEqual(after + 1000);
    });

    it('is not ready and says so from 30 s on, and warns from 2 s on', async () => {
      const refused = await ahead.get('/health/ready/');
      expect(refused.status).toBe(503);
      expect(refused.body.checks).toMatchObject({ clock: 'failing', database: 'ok' });
      await eventually(async () =>
        expect(await alertsOf(ahead)).toMatchObject([{ severity: 'warning', params: { seconds: 120 } }]),
      );
      expect(await alertsOf(right)).toEqual([]);

      clock.set(10 / DAY_SECONDS);
      await eventually(async () => expect((await ahead.get('/health/ready/')).status).toBe(200));
      await eventually(async () =>
        expect(await alertsOf(ahead)).toMatchObject([{ params: { seconds: 10 } }]),
      );

      clock.set(0);
      await eventually(async () => expect(await alertsOf(ahead)).toEqual([]));
    });
  });

  it('tells the pages of all servers what one of them has changed', async () => {
    const page = await listening(right);
    const { license } = await ahead.admin.createLicense({ holder: 'Bote' });
    const refused = await ahead.post('/authorize/', {
      license_key: license.license_key,
      machine_fingerprint: fingerprintOf(1),
    });
    expect(refused.body.authorized).toBe(false);
    // Denied calls appear in no list that a server without a message would look at.
    expect(await page.changed('denials')).toContain('licenses');
    await page.vanish();
  });

  it('answers 503 on every path while the database is frozen, and serves again after it', async () => {
    const { license } = await right.admin.createLicense({ holder: 'Frost', plan: 'enterprise' });
    const { license_key } = license;
    const activate = (number: number) =>
      right.post('/activate/', { license_key, machine_fingerprint: fingerprintOf(number) });
    expect((await activate(0)).status).toBe(200);
    postgres.freeze();
    const refused = await Promise.all([
      activate(1),
      right.post('/authorize/', { license_key, machine_fingerprint: fingerprintOf(0) }),
      right.post('/certs/validate/', { serial_number: '01' }),
    ]);
    for (const reply of refused) expectFailure(reply, 'unavailable');
    const unready = await right.get('/health/ready/');
    expect([unready.status, unready.body.checks.database]).toEqual([503, 'failing']);
    expectFailure(await right.get('/health/'), 'unavailable');
    // More than there are connections: those that wait for one are not left waiting.
    const crowd = await Promise.all(Array.from({ length: 30 }, (_, number) => activate(number)));
    for (const reply of crowd) expectFailure(reply, 'unavailable');
    await expect(right.admin.listLicenses({})).rejects.toThrow('cannot be reached');
    expect((await right.get('/health/live/')).status).toBe(200);

    postgres.thaw();
    await eventually(async () => expect((await activate(2)).status).toBe(200));
    await eventually(async () => expect((await right.get('/health/ready/')).status).toBe(200));
    expect((await right.get('/health/')).status).toBe(200);
  });
});
