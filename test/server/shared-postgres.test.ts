// Servers on one PostgreSQL database: they go by its clock, tell each other what changed, and answer when it does not.
import { hostname } from 'node:os';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect, type Database } from '#server/database/connect.ts';
import { SCHEMA } from '#server/database/migrate.ts';
import { VERSION } from '#server/installation/version.ts';
import { callAdmin, unique } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { freePort } from '../helpers/free-ports.ts';
import { hasFaketime, movableClock } from '../helpers/faketime.ts';
import { listening } from '../helpers/live-client.ts';
import { hasPostgres, type PostgresCluster, startPostgres } from '../helpers/postgres-cluster.ts';
import {
  serveToEnd,
  type ServerProcess,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { signedIn } from '../helpers/sign-in.ts';
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

  let url: string;

  const serve = (databaseUrl: string, prefix: string[] = [], port = '0') =>
    startServerProcess({
      dataDir: temporaryDirectory(),
      prefix,
      flags: { 'database-url': databaseUrl, port },
      env: { LICENSE_DESK_MASTER_KEY: MASTER_KEY },
    });

  beforeAll(async () => {
    postgres = await startPostgres();
    url = await postgres.newDatabase();
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

  describe('in their list', () => {
    const listOf = async ({ admin }: ServerProcess) => (await admin.listServers({})).items;
    const addressOf = ({ api }: ServerProcess) => new URL(api).origin;
    /** The server that leads, as each of the others sees it. */
    const leaderOf = async (server: ServerProcess) =>
      (await listOf(server)).filter(({ role }) => role === 'leader').map(({ address }) => address);
    const nameOf = (server: ServerProcess) => `${hostname()} (${addressOf(server)})`;
    let third: ServerProcess;

    beforeAll(async () => {
      third = await serve(url);
    });

    it('shows each with its state and exactly one leader', async () => {
      await eventually(async () => expect(await leaderOf(right)).toHaveLength(1));
      const addresses = async () => (await listOf(right)).map(({ address }) => address);
      await eventually(async () => expect(await addresses()).toEqual([right, ahead, third].map(addressOf)));
      // The clock of one was wrong until a moment ago.
      await eventually(async () =>
        expect((await listOf(right)).map(({ state }) => state)).toEqual(['ready', 'ready', 'ready']),
      );
      const items = await listOf(right);
      for (const item of items) {
        expect(item).toMatchObject({ state: 'ready', name: hostname(), version: VERSION, schema: SCHEMA });
        expect(item.current).toBe(item.address === addressOf(right));
        expect(item.database_ms).toBeGreaterThanOrEqual(0);
      }
      await eventually(async () =>
        expect((await listOf(third)).map(({ current }) => current)).toEqual([false, false, true]),
      );
    });

    it('answers a revocation when all serve the CRL, or names the server that does not', async () => {
      const { license } = await right.admin.createLicense({ holder: 'Liste', plan: 'enterprise' });
      const newCertificate = async () => {
        const order = { license_id: license.license_id, common_name: unique('client') };
        return (await right.admin.generateCertificate(order)).certificate;
      };
      // Each has served a CRL, so that it has something to replace.
      for (const server of [right, ahead, third]) await server.get('/certs/crl/');
      // A busy machine may take longer than the two seconds that the reply waits.
      const first = await eventually(async () => {
        const certificate = await newCertificate();
        const reply = await ahead.admin.revokeCertificate({ id: certificate.id });
        expect(reply).toMatchObject({ listed: true, late_servers: [] });
        return certificate;
      });
      for (const server of [right, ahead, third]) {
        const { body } = await server.get('/certs/crl/');
        expect(body.revoked.map((entry: { serial_number: string }) => entry.serial_number)).toContain(
          first.serial_number,
        );
      }

      await eventually(async () => {
        const second = await newCertificate();
        process.kill(third.pid, 'SIGSTOP');
        // It stays ready, however long the reply takes, until it reports again.
        const atThird = `address = '${addressOf(third)}'`;
        await writeRows(url, `UPDATE servers SET last_seen_at = last_seen_at + 3600000 WHERE ${atThird}`);
        const late = await right.admin.revokeCertificate({ id: second.id });
        process.kill(third.pid, 'SIGCONT');
        expect(late).toMatchObject({ listed: false, late_servers: [nameOf(third)] });
      });
      await eventually(async () => {
        const numbers = (await listOf(right)).map(({ crl_number: number }) => number);
        expect(new Set(numbers).size).toBe(1);
      });
    });

    it('has another leader while one is frozen, which then follows', async () => {
      const [first] = await eventually(async () => {
        const leaders = await leaderOf(right);
        expect(leaders).toHaveLength(1);
        return leaders;
      });
      const frozen = [right, ahead, third].find((server) => addressOf(server) === first)!;
      const witness = frozen === right ? third : right;
      process.kill(frozen.pid, 'SIGSTOP');
      await eventually(async () => {
        const [next] = await leaderOf(witness);
        expect([undefined, first]).not.toContain(next);
      });
      process.kill(frozen.pid, 'SIGCONT');
      await eventually(async () => {
        const leaders = await leaderOf(frozen);
        expect(leaders).toHaveLength(1);
        expect(leaders).toEqual(await leaderOf(witness));
      });
    });

    it('leaves on a stop, without an alert, and hands the work over', async () => {
      const gone = addressOf(third);
      await eventually(async () => {
        await third.kill();
        const addresses = (await listOf(right)).map(({ address }) => address);
        // If it did not manage to leave in time, its successor removes what it left behind, and tries again.
        if (addresses.includes(gone)) third = await serve(url, [], new URL(gone).port);
        expect(addresses).not.toContain(gone);
      });
      await eventually(async () => expect(await leaderOf(right)).toHaveLength(1));
    });

    it('raises an alert about a server that was killed, until it is back', async () => {
      const port = String(await freePort());
      third = await serve(url, [], port);
      const name = nameOf(third);
      await eventually(async () => expect(await listOf(right)).toHaveLength(3));
      await third.kill('SIGKILL');
      await eventually(async () => {
        const { alerts } = await right.admin.listAlerts({});
        expect(alerts).toContainEqual(expect.objectContaining({ code: 'server_lost', subject: name }));
      });
      await eventually(async () =>
        expect((await listOf(right)).map(({ state }) => state)).toEqual(['ready', 'ready', 'lost']),
      );
      await eventually(async () => expect(await leaderOf(right)).toHaveLength(1));

      third = await serve(url, [], port);
      await eventually(async () => {
        const { alerts } = await right.admin.listAlerts({});
        expect(alerts.map(({ code }) => code)).not.toContain('server_lost');
      });
      await third.kill();
      // If it did not manage to leave in time, it would be listed for an hour.
      await writeRows(url, `DELETE FROM servers WHERE address = '${addressOf(third)}'`);
    });
  });

  it('counts calls of one network on all servers together', async () => {
    const ask = async (server: ServerProcess) => {
      const { status, headers } = await server.post('/authorize/token/', { token: 'ldt_unknown' });
      return { status, remaining: Number(headers.get('ratelimit-remaining')) };
    };
    const LIMIT = 60;
    for (let count = 0; count < 30; count += 1) await ask(right);
    let asked = 30;
    // Each attempt counts, too: not more of them than are left.
    await vi.waitFor(
      async () => {
        asked += 1;
        expect((await ask(ahead)).remaining).toBe(LIMIT - asked);
      },
      { interval: 1000, timeout: 29_000 },
    );
    while (asked < LIMIT) {
      await ask(ahead);
      asked += 1;
    }
    await eventually(async () => expect((await ask(right)).status).toBe(429));
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

  it('share sessions of the back office and API tokens, which end on all at once', async () => {
    /** The cookie is named by the port. */
    const on = (server: ServerProcess, secret: string) => ({
      cookie: `license_desk_session_${new URL(server.adminOrigin).port}=${secret}`,
    });
    const signIn = async () => {
      const { cookie } = await signedIn(right);
      return cookie.split('=')[1]!;
    };
    const statuses = (secret: string) =>
      Promise.all(
        [right, ahead].map(
          async (server) => (await callAdmin(server, 'serverInfo', {}, on(server, secret))).status,
        ),
      );
    const [one, two] = [await signIn(), await signIn()];
    expect(await statuses(one)).toEqual([200, 200]);
    expect(await statuses(two)).toEqual([200, 200]);

    const page = await listening(ahead, on(ahead, one));
    expect((await callAdmin(right, 'endOtherSessions', {}, on(right, two))).status).toBe(200);
    expect(await statuses(one)).toEqual([401, 401]);
    expect(await statuses(two)).toEqual([200, 200]);
    expect((await page.rest()).at(-1)).toMatchObject({ event: 'end', data: { reason: 'signed_out' } });
    expect((await callAdmin(ahead, 'signOut', {}, on(ahead, two))).status).toBe(200);
    expect(await statuses(two)).toEqual([401, 401]);

    const { api_token, token } = await right.admin.createApiToken({ name: 'shop', role: 'integrator' });
    const bearer = { authorization: `Bearer ${api_token}` };
    expect((await ahead.get('/plans/', bearer)).status).toBe(200);
    await right.admin.revokeApiToken({ id: token.id });
    expectFailure(await ahead.get('/plans/', bearer), 'unauthorized');
  });

  describe('in different versions', () => {
    let other: Database;
    const NEWER = '9999-newer';
    /** Dated an hour ahead: a server counts as gone six seconds after its report, and a busy machine starts more slowly. */
    const reportOf = (version: string, schema: string) =>
      other.query(`INSERT INTO servers
        SELECT 'other', 'elsewhere', 'http://elsewhere', '${version}', '${schema}', 0,
          (extract(epoch FROM clock_timestamp()) + 3600) * 1000, 'ready', 0, 0, 0, NULL`);
    const refusal = async () => {
      const { code, stderr } = await serveToEnd({
        dataDir: temporaryDirectory(),
        flags: { 'database-url': url },
        env: { LICENSE_DESK_MASTER_KEY: MASTER_KEY },
      });
      expect(code).toBe(1);
      return stderr;
    };

    beforeAll(async () => {
      other = await connect({ url, file: '' });
    });
    afterAll(async () => {
      await other.query(`DELETE FROM migrations WHERE name = '${NEWER}'`);
      await other.query(`DELETE FROM servers WHERE id = 'other'`);
      await other.close();
    });

    it('shows and reports them', async () => {
      await reportOf('99.0.0', NEWER);
      await eventually(async () => {
        const { items } = await right.admin.listServers({});
        expect(items.map(({ version }) => version).toSorted()).toEqual([VERSION, VERSION, '99.0.0']);
      });
      await eventually(async () => {
        const { alerts } = await ahead.admin.listAlerts({});
        expect(alerts).toContainEqual(
          expect.objectContaining({ code: 'versions_differ', params: { versions: `${VERSION}, 99.0.0` } }),
        );
      });
    });

    it('starts on the schema of a newer version that supports this one, and on no other', async () => {
      await other.query(`INSERT INTO migrations (name) VALUES ('${NEWER}')`);
      const server = await serve(url);
      await eventually(async () => expect((await server.get('/health/ready/')).status).toBe(200));
      await server.kill();

      await other.query(`UPDATE schema_support SET min_app_schema = '${NEWER}'`);
      expect(await refusal()).toContain(`written by a newer version of License Desk (${NEWER})`);
      await other.query(`DELETE FROM migrations WHERE name = '${NEWER}'`);
    });

    it('does not migrate while a server runs that the new schema would break', async () => {
      await other.query('DROP TABLE schema_support');
      await other.query(`DELETE FROM migrations WHERE name LIKE '%-schema-support'`);
      await other.query(`DELETE FROM servers WHERE id = 'other'`);
      await reportOf('0.0.1', '0018-device-history');
      expect(await refusal()).toContain('elsewhere (http://elsewhere) runs version 0.0.1');
      await other.query(`DELETE FROM servers WHERE id = 'other'`);
      const server = await serve(url);
      await server.kill();
      for (const { get } of [right, ahead])
        await eventually(async () => expect((await get('/health/ready/')).status).toBe(200));
    });
  });

  it('loses, doubles and reports wrongly nothing while PostgreSQL ends connections under load', async () => {
    const { license } = await right.admin.createLicense({ holder: 'Abbruch', plan: 'enterprise' });
    const { license_key } = license;
    const other = await connect({ url, file: '' });
    const endConnections = () =>
      other.query(
        'SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()',
      );
    const DEVICES = 150;
    const seen = new Set<number>();
    let done = 0;
    const next = (numbers: Iterator<number>) => numbers.next().value as number | undefined;
    const numbers = Array.from({ length: DEVICES }, (_, number) => 1000 + number).values();
    async function client(server: ServerProcess): Promise<void> {
      for (let number = next(numbers); number !== undefined; number = next(numbers)) {
        const device = { license_key, machine_fingerprint: fingerprintOf(number) };
        await eventually(async () => {
          const reply = await server.post('/activate/', device);
          seen.add(reply.status);
          if (reply.status !== 200) expectFailure(reply, 'unavailable');
          expect(reply.status).toBe(200);
        });
        const asked = await server.post('/authorize/', device);
        seen.add(asked.status);
        if (asked.status !== 200) expectFailure(asked, 'unavailable');
        else expect(asked.body.authorized).toBe(true);
        done += 1;
        if (done % 25 === 0) await endConnections();
      }
    }
    await Promise.all([right, ahead].flatMap((server) => Array.from({ length: 8 }, () => client(server))));
    await other.close();
    expect([...seen].filter((status) => status !== 200 && status !== 503)).toEqual([]);
    await eventually(async () => {
      const { items } = await right.admin.listDevices({ ref: license_key, limit: 200 });
      expect(items).toHaveLength(DEVICES);
    });
  });

  it('answers 503 on every path while the database is frozen, and serves again after it', async () => {
    const { license } = await right.admin.createLicense({ holder: 'Frost', plan: 'enterprise' });
    const { license_key } = license;
    const activate = (number: number) =>
      right.post('/activate/', { license_key, machine_fingerprint: fingerprintOf(number) });
    expect((await activate(0)).status).toBe(200);
    // This result of its write probe stays fresh for longer than the first calls wait below.
    await eventually(async () => expect((await right.get('/health/ready/')).status).toBe(200));
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
    // It may still ask a connection that does not answer yet.
    await eventually(async () => expect((await right.get('/health/')).status).toBe(200));
  });
});
