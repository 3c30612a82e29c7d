// A streaming replica of the PostgreSQL database answers the lists of the back office, and nothing else.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import {
  callAdmin,
  newBearer,
  newFloatingLicense,
  newLeaseGroup,
  newLicense,
  unique,
} from '../helpers/contract-calls.ts';
import { runCli } from '../helpers/cli.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { checkOut, heartbeat, lease } from '../helpers/leases.ts';
import { listening } from '../helpers/live-client.ts';
import {
  hasPostgres,
  type PostgresCluster,
  type PostgresServer,
  startPostgres,
} from '../helpers/postgres-cluster.ts';
import { httpCall } from '../helpers/raw-http.ts';
import { signedIn } from '../helpers/sign-in.ts';
import { expectFailure } from '../helpers/strict-reply.ts';
import { fingerprintOf, startTestServer, type TestServer } from '../helpers/test-server.ts';

const MASTER_KEY = Buffer.alloc(32, 7).toString('base64');
/** A replica that is paused stays usable. */
const ANY_LAG = { 'replica-max-lag-seconds': '3600' };
/** More than a page of the export. */
const MANY = 250;

const onServer = (address: string, { port }: PostgresServer) => {
  const moved = new URL(address);
  moved.port = String(port);
  return moved.href;
};

const positionOf = async (url: string, text: string): Promise<number> =>
  (await selectRows(url, `SELECT CAST(${text} - '0/0' AS DOUBLE PRECISION) AS at`))[0].at as number;

/** Until the replica has applied what is in the database now. */
async function caughtUp(url: string, replicaUrl: string): Promise<void> {
  const end = await positionOf(url, 'pg_current_wal_insert_lsn()');
  await eventually(async () =>
    expect(await positionOf(replicaUrl, 'pg_last_wal_replay_lsn()')).toBeGreaterThanOrEqual(end),
  );
}

async function pause(replicaUrl: string): Promise<void> {
  await selectRows(replicaUrl, 'SELECT pg_wal_replay_pause()');
  await eventually(async () =>
    expect(await selectRows(replicaUrl, 'SELECT pg_get_wal_replay_pause_state() AS state')).toEqual([
      { state: 'paused' },
    ]),
  );
}

const resume = (replicaUrl: string) => selectRows(replicaUrl, 'SELECT pg_wal_replay_resume()');

/** What the log says about the replica: a problem, or null where it is used. */
function loggedStates(dataDir: string): (string | null)[] {
  const lines = globSync(join(dataDir, 'logs', 'license-desk*'))
    .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
    .filter((line) => line.includes('read from the replica'));
  return lines.map((line) => (JSON.parse(line) as { problem?: string }).problem ?? null);
}

const lastState = (server: TestServer) => loggedStates(server.dataDir).at(-1);

async function alertOf({ admin }: TestServer) {
  const { alerts } = await admin.listAlerts({});
  return alerts.find(({ code }) => code === 'replica_unused')?.params['problem'] ?? null;
}

/** In the log and in the back office. */
async function hasProblem(server: TestServer, problem: string | null): Promise<void> {
  await eventually(async () => {
    expect(lastState(server)).toBe(problem);
    expect(await alertOf(server)).toBe(problem);
  });
}

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';
describe.skipIf(!hasPostgres)(`a read replica${why}`, () => {
  let postgres: PostgresCluster;
  let replica: PostgresServer;
  /**
   * For tests that look at their own rows only, and leave the server and the replica as they were. After a test with
   * leases, the server would write by itself, and not read from the replica meanwhile.
   */
  let shared: Awaited<ReturnType<typeof startWithReplica>>;
  beforeAll(async () => {
    postgres = await startPostgres();
    replica = await postgres.startReplica();
    shared = await startWithReplica(ANY_LAG);
  });
  afterAll(async () => {
    replica.thaw();
    await shared.server.stop();
    await replica.stop();
    await postgres.stop();
  });

  const start = (url: string, flags: Record<string, string>): Promise<TestServer> =>
    startTestServer({ flags: { 'database-url': url, ...flags }, masterKey: MASTER_KEY });

  const serve = async (url: string, flags: Record<string, string>): Promise<TestServer> => {
    const server = await start(url, flags);
    onTestFinished(() => server.stop());
    return server;
  };

  /** A server with a replica that it uses, on a new database. */
  async function startWithReplica(flags: Record<string, string>) {
    const url = await postgres.newMigratedDatabase();
    const replicaUrl = onServer(url, replica);
    await eventually(() => selectRows(replicaUrl, 'SELECT 1'));
    const server = await start(url, { 'replica-database-url': replicaUrl, ...flags });
    await hasProblem(server, null);
    return { url, replicaUrl, server };
  }

  async function serveWithReplica(flags: Record<string, string> = ANY_LAG) {
    const started = await startWithReplica(flags);
    onTestFinished(() => started.server.stop());
    return started;
  }

  /** @param limit how many, newest first */
  const holdersOf = async ({ admin }: TestServer, limit = 50) =>
    (await admin.listLicenses({ limit })).items.map(({ holder }) => holder);

  /** Changes the holder of all licenses where no server notices. */
  const rename = (url: string, holder: string) => writeRows(url, `UPDATE licenses SET holder = '${holder}'`);

  /** From now on, the replica shows what the server's lists have shown so far. */
  async function stopApplying(server: TestServer, url: string, replicaUrl: string): Promise<void> {
    // This list covers all changes that the server has made.
    await server.admin.listLicenses({});
    await caughtUp(url, replicaUrl);
    await pause(replicaUrl);
    onTestFinished(async () => void (await resume(replicaUrl)));
  }

  it('answers lists, figures and exports, and not the API, checks and sessions', async () => {
    const { url, replicaUrl, server } = await serveWithReplica();
    const { admin } = server;
    const { license_id: id, license_key: key } = await newLicense(server, { plan: 'enterprise' });
    const bearer = await newBearer(server);
    const { token } = await admin.issueToken({ license: key });
    const browser = await signedIn(server);
    const device = { license_key: key, machine_fingerprint: fingerprintOf(1) };
    expect((await server.post('/activate/', device)).status).toBe(200);
    const { items: certificates } = await admin.listCertificates({});
    expect(certificates).toEqual([]);
    await stopApplying(server, url, replicaUrl);

    await writeRows(
      url,
      `UPDATE licenses SET holder = 'Later', revoked_at = issued_at, notice_due_at = NULL`,
      `UPDATE authorization_tokens SET status = 'revoked', ended_at = 1000`,
      `UPDATE activations SET machine_name = 'later'`,
      `UPDATE audit_entries SET actor_name = 'later'`,
    );
    const [license] = (await admin.listLicenses({})).items;
    expect(license).toMatchObject({ state: 'active' });
    expect(license!.holder).not.toBe('Later');
    expect((await admin.countLicenses({ state: 'revoked' })).count).toBe(0);
    expect((await admin.listDevices({ ref: key })).items).toMatchObject([{ machine_name: null }]);
    expect((await admin.listTokens({})).items).toMatchObject([{ state: 'active', holder: license!.holder }]);
    expect((await admin.listAudit({ limit: 1 })).items[0]!.actor_name).not.toBe('later');
    expect((await admin.stats({})).licenses.by_state).toMatchObject({ active: 1, revoked: 0 });
    expect((await admin.overview({})).licenses.by_state).toMatchObject({ active: 1, revoked: 0 });

    expect((await admin.showLicense({ ref: key })).license).toMatchObject({
      holder: 'Later',
      state: 'revoked',
    });
    const check = { token, product_slug: license!.product };
    expectFailure(await server.post('/authorize/token/', check), 'token_invalid');
    expectFailure(
      await server.post('/activate/', { ...device, machine_fingerprint: fingerprintOf(2) }),
      'license_revoked',
    );
    const listed = await server.get('/licenses/', bearer);
    expect(listed.body.items).toMatchObject([{ license_id: id, holder: 'Later' }]);
    await writeRows(url, 'DELETE FROM admin_sessions');
    expectFailure(await callAdmin(server, 'listLicenses', {}, browser), 'unauthorized');
    await writeRows(url, 'UPDATE api_tokens SET revoked_at = 1000');
    expectFailure(await server.get('/licenses/', bearer), 'unauthorized');
  });

  it('answers an export to its end', async () => {
    const { url, replicaUrl, server } = shared;
    const { import_id } = await server.admin.uploadImport({
      file: new Blob([['holder', ...Array.from({ length: MANY }, () => 'Before')].join('\n')]),
    });
    await server.admin.runImport({ import_id, mapping: { holder: 'holder' } });
    await stopApplying(server, url, replicaUrl);
    await rename(url, 'Later');
    const reply = await httpCall(`${server.adminOrigin}/admin/api/licenses/export/`, {
      headers: { authorization: `Bearer ${server.runtimeSecret}` },
    });
    expect(reply.text.match(/Before/gu)).toHaveLength(MANY);
    expect(reply.text).not.toContain('Later');
  });

  it('leaves nothing behind that a checkout decides by', async () => {
    const { url, replicaUrl, server } = await serveWithReplica();
    const license = await newFloatingLicense(server, { seats: 5 });
    const { name } = await newLeaseGroup(server, { members: ['eve'] });
    await server.admin.createLeaseRule({
      license: license.license_key,
      type: 'deny',
      match: { group: name },
    });
    await stopApplying(server, url, replicaUrl);
    await writeRows(url, `UPDATE lease_groups SET members = '["mallory"]', revision = revision + 1`);
    expect((await server.admin.listLeasePools({})).items).toHaveLength(1);
    expect((await checkOut(server, license, { user: 'mallory' })).status).toBe(403);
    expect((await checkOut(server, license, { user: 'eve' })).status).toBe(200);
  });

  describe('shows a change at once', () => {
    it('to the administrator who made it', async () => {
      const { url, replicaUrl, server } = await serveWithReplica();
      await newLicense(server, { holder: 'Before' });
      await stopApplying(server, url, replicaUrl);
      await rename(url, 'Hidden');
      expect(await holdersOf(server)).toEqual(['Before']);
      await newLicense(server, { holder: 'Mine' });
      expect(await holdersOf(server)).toEqual(['Mine', 'Hidden']);
      await resume(replicaUrl);
      await eventually(async () => {
        expect(await holdersOf(server)).toEqual(['Mine', 'Hidden']);
        await stopApplying(server, url, replicaUrl);
        await rename(url, 'Hidden again');
        const holders = await holdersOf(server);
        await resume(replicaUrl);
        expect(holders).toEqual(['Mine', 'Hidden']);
      });
    });

    it('that it writes itself, such as when a device was last seen', async () => {
      const { url, replicaUrl, server } = shared;
      const { license_key } = await newLicense(server, {});
      const device = { license_key, machine_fingerprint: fingerprintOf(1) };
      expect((await server.post('/activate/', device)).status).toBe(200);
      await writeRows(url, 'UPDATE activations SET last_seen_at = 1000');
      await stopApplying(server, url, replicaUrl);
      const call = { ...device, product_slug: 'default' };
      expect((await server.post('/authorize/', call)).status).toBe(200);
      const { items } = await server.admin.listDevices({ ref: license_key });
      expect(Date.parse(items[0]!.last_seen_at!)).toBeGreaterThan(1000);
    });

    it('that it writes itself, such as when a token was last used', async () => {
      const { url, replicaUrl, server } = shared;
      const { license_key: license } = await newLicense(server, {});
      const { token } = await server.admin.issueToken({ license });
      await stopApplying(server, url, replicaUrl);
      const { status } = await server.post('/authorize/token/', { token, product_slug: 'default' });
      expect(status).toBe(200);
      // Writes it now.
      await server.admin.stats({});
      await eventually(async () =>
        expect(await selectRows(url, 'SELECT last_used_at AS at FROM authorization_tokens')).toEqual([
          { at: expect.any(Number) as number },
        ]),
      );
      const { items } = await server.admin.listTokens({});
      expect(items).toMatchObject([{ last_used_at: expect.any(String) as string }]);
    });

    it('that it writes itself, such as the last heartbeat of a lease', async () => {
      const { url, replicaUrl, server } = await serveWithReplica();
      const { lease_token } = await lease(server, await newFloatingLicense(server));
      const lastHeartbeat = async () =>
        Date.parse((await server.admin.listLeases({})).items[0]!.heartbeat_at!);
      // Shown if the list comes from the replica.
      await writeRows(url, 'UPDATE leases SET heartbeat_at = 1000');
      await stopApplying(server, url, replicaUrl);
      expect(await lastHeartbeat()).toBe(1000);
      expect((await heartbeat(server, lease_token)).status).toBe(200);
      await eventually(async () => expect(await lastHeartbeat()).toBeGreaterThan(1000));
    });

    it('on the page that is told of a change on another server', async () => {
      const { url, replicaUrl, server } = await serveWithReplica();
      const other = await serve(url, {});
      const page = await listening(server);
      await stopApplying(server, url, replicaUrl);
      await newLicense(other, { holder: 'Elsewhere' });
      await page.changed('licenses');
      expect(await holdersOf(server)).toEqual(['Elsewhere']);
      await page.vanish();
    });

    it('while the replica applies changes, however many there are', async () => {
      const { server } = shared;
      const total = async () => (await server.admin.overview({})).licenses.total;
      const before = await total();
      for (let count = 1; count <= 30; count += 1) {
        const holder = unique('holder');
        await newLicense(server, { holder });
        expect(await holdersOf(server, 1)).toEqual([holder]);
        expect(await total()).toBe(before + count);
      }
      expect(await alertOf(server)).toBeNull();
    });
  });

  it('is shown in the list of servers, with how far it is behind', async () => {
    const { url, replicaUrl, server } = shared;
    await serve(url, {});
    const shown = async () => {
      const { items } = await server.admin.listServers({});
      expect(items).toHaveLength(2);
      expect(items[1]).toMatchObject({ replica: null, replica_lag_ms: null });
      return items[0]!;
    };
    await eventually(async () =>
      expect(await shown()).toMatchObject({ replica: 'in_use', replica_lag_ms: 0 }),
    );
    await pause(replicaUrl);
    onTestFinished(async () => void (await resume(replicaUrl)));
    await eventually(async () => {
      const { replica: state, replica_lag_ms: lag } = await shown();
      expect(state).toBe('in_use');
      expect(lag).toBeGreaterThan(2000);
    });
    const { stdout } = await runCli(['server', 'list', '--data-dir', server.dataDir]);
    expect(stdout).toMatch(/REPLICA +LAG[^]* in_use +\d+ ms/u);
    await resume(replicaUrl);
    await eventually(async () => expect((await shown()).replica_lag_ms).toBe(0));
    const wrong = await serve(url, { 'replica-database-url': url });
    await eventually(async () => {
      const { items } = await wrong.admin.listServers({});
      expect(items.at(-1)).toMatchObject({ replica: 'not_replica', replica_lag_ms: null });
    });
  });

  it('is checked by doctor, which hides its password', async () => {
    const { url, replicaUrl, server } = shared;
    const checked = async (replicaAddress: string) => {
      const { stdout } = await runCli(['doctor', '--json', '--data-dir', server.dataDir], {
        env: {
          LICENSE_DESK_MASTER_KEY: MASTER_KEY,
          LICENSE_DESK_DATABASE_URL: url,
          LICENSE_DESK_REPLICA_DATABASE_URL: replicaAddress,
        },
      });
      const { checks } = JSON.parse(stdout) as { checks: { check: string; ok: boolean; detail: string }[] };
      return checks.find(({ check }) => check === 'replica');
    };
    expect(await checked(replicaUrl)).toMatchObject({ ok: true });
    expect(await checked(url)).toMatchObject({ ok: false, detail: expect.stringContaining('not a replica') });
    const gone = await checked('postgres://desk:h1dden@127.0.0.1:1/desk');
    expect(gone).toMatchObject({ ok: false, detail: expect.stringContaining('127.0.0.1:1/desk') });
    expect(gone!.detail).not.toContain('h1dden');
  });

  describe('is not read', () => {
    it('while it is too far behind', async () => {
      const { url, replicaUrl, server } = await serveWithReplica({ 'replica-max-lag-seconds': '5' });
      await newLicense(server);
      // Again, if five seconds have passed before the list is read.
      await eventually(async () => {
        await resume(replicaUrl);
        await hasProblem(server, null);
        await rename(url, 'Before');
        await stopApplying(server, url, replicaUrl);
        await rename(url, 'Later');
        expect(await holdersOf(server)).toEqual(['Before']);
      });
      await hasProblem(server, 'behind');
      expect(await holdersOf(server)).toEqual(['Later']);
      await resume(replicaUrl);
      await hasProblem(server, null);
      // Each change once, however many there were.
      const states = loggedStates(server.dataDir);
      expect(states.filter((state, index) => state === states[index - 1])).toEqual([]);
    });

    it('while it is too far behind, even if the clock of the database was set back', async () => {
      const { url, replicaUrl, server } = await serveWithReplica({ 'replica-max-lag-seconds': '5' });
      await newLicense(server, { holder: 'Before' });
      await writeRows(
        url,
        `CREATE FUNCTION run_ahead() RETURNS trigger LANGUAGE plpgsql
         AS $$ BEGIN NEW.last_seen_at = NEW.last_seen_at + 3600000; RETURN NEW; END $$`,
        'CREATE TRIGGER run_ahead BEFORE UPDATE ON servers FOR EACH ROW EXECUTE FUNCTION run_ahead()',
      );
      await eventually(async () => {
        const [row] = await selectRows(replicaUrl, 'SELECT last_seen_at AS at FROM servers');
        expect(row.at).toBeGreaterThan(Date.now() + 1_800_000);
      });
      await stopApplying(server, url, replicaUrl);
      await writeRows(url, 'DROP FUNCTION run_ahead() CASCADE');
      await rename(url, 'Later');
      await hasProblem(server, 'behind');
      expect(await holdersOf(server)).toEqual(['Later']);
    });

    it('while it hangs', async () => {
      const { url, replicaUrl, server } = shared;
      await newLicense(server, { holder: 'Before' });
      await stopApplying(server, url, replicaUrl);
      await rename(url, 'Later');
      expect(await holdersOf(server, 1)).toEqual(['Before']);
      replica.freeze();
      onTestFinished(() => replica.thaw());
      // As many at once as one page makes, and more than there are connections.
      const lists = await Promise.all(Array.from({ length: 15 }, () => holdersOf(server, 1)));
      expect(new Set(lists.flat())).toEqual(new Set(['Later']));
      await hasProblem(server, 'unreachable');
      expect(await holdersOf(server, 1)).toEqual(['Later']);
      replica.thaw();
      await hasProblem(server, null);
      expect(await holdersOf(server, 1)).toEqual(['Before']);
    });

    it('while it is down, and at a start without it', async () => {
      const { url, replicaUrl, server } = shared;
      await newLicense(server, { holder: 'Here' });
      const restarted = replica.restart(3000);
      await hasProblem(server, 'unreachable');
      expect(await holdersOf(server, 1)).toEqual(['Here']);
      const other = await serve(url, { 'replica-database-url': replicaUrl, ...ANY_LAG });
      expect(await holdersOf(other, 1)).toEqual(['Here']);
      await restarted;
      await hasProblem(server, null);
      await hasProblem(other, null);
    });

    it('before it has the schema', async () => {
      const url = await postgres.newDatabase();
      const replicaUrl = onServer(url, replica);
      await caughtUp(url, replicaUrl);
      await pause(replicaUrl);
      const server = await serve(url, { 'replica-database-url': replicaUrl, ...ANY_LAG });
      await hasProblem(server, 'other_schema');
      expect(await holdersOf(server)).toEqual([]);
      await resume(replicaUrl);
      await hasProblem(server, null);
    });

    it('if it is the database itself, or another one', async () => {
      const url = await postgres.newMigratedDatabase();
      await hasProblem(await serve(url, { 'replica-database-url': url }), 'not_replica');
      const server = await serve(url, { 'replica-database-url': shared.replicaUrl });
      await hasProblem(server, 'other_database');
      await newLicense(server, { holder: 'Here' });
      expect(await holdersOf(server)).toEqual(['Here']);
    });

    it('once it is promoted', async () => {
      const second = await postgres.startReplica();
      onTestFinished(() => second.stop());
      const url = await postgres.newMigratedDatabase();
      const replicaUrl = onServer(url, second);
      await eventually(() => selectRows(replicaUrl, 'SELECT 1'));
      const server = await serve(url, { 'replica-database-url': replicaUrl, ...ANY_LAG });
      await hasProblem(server, null);
      await newLicense(server, { holder: 'Before' });
      await caughtUp(url, replicaUrl);
      await selectRows(replicaUrl, 'SELECT pg_promote()');
      await rename(replicaUrl, 'On the promoted one');
      expect(await holdersOf(server)).toEqual(['Before']);
      await hasProblem(server, 'not_replica');
    });
  });
});
