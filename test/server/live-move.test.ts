// `license-desk move-database` beside a running server: it answers all the time, refuses changes at the end, and loses
// nothing that it has confirmed, even if the server or the command is killed.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { CLI_PROGRAM, type CliResult, documentOf, runCli } from '../helpers/cli.ts';
import { unique } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { useEverything } from '../helpers/every-table.ts';
import { eventually } from '../helpers/eventually.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase, readingLicenses } from '../helpers/postgres-database.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf, type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

interface Moved {
  moved: { from: string; to: string; rows: number; tables: { name: string; rows: number; sha256: string }[] };
}

const project = resolve(import.meta.dirname, '../..');
/** The source: the build has its own copy of the driver's code. */
const fromSource = (preload: string) => [
  '--import',
  resolve(import.meta.dirname, `../helpers/${preload}.ts`),
  join(project, 'cli/main.ts'),
  'serve',
];
/** Ends the server at this point of a move. */
type Kill = { KILL_AT_QUERY: string } | { KILL_AT_RENAME_TO: string };
const killedAt = (env: Kill) => ({
  program: fromSource('KILL_AT_QUERY' in env ? 'kill-at-query' : 'kill-at-rename'),
  env,
});

/** Tables that neither servers nor these tests write meanwhile. */
const UNWRITTEN = new Set([
  'activations',
  'api_tokens',
  'certificate_authorities',
  'lease_groups',
  'lease_rules',
  'plans',
  'signing_keys',
  'webhooks',
]);
const unwritten = ({ tables }: Moved['moved']) => tables.filter(({ name }) => UNWRITTEN.has(name));

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`move-database beside a running server${why}`, () => {
  const move = (dataDir: string, to: string) =>
    runCli(['move-database', '--to', to, '--json', '--data-dir', dataDir]);
  async function moved(dataDir: string, to: string): Promise<Moved['moved']> {
    const result = await move(dataDir, to);
    expect(result.stderr).toBe('');
    return documentOf<Moved>(result).moved;
  }

  const isOnPostgres = (dataDir: string) =>
    readFileSync(join(dataDir, 'config.json'), 'utf8').includes('postgres://');

  const create = (server: ServerProcess) =>
    fetch(`${server.adminOrigin}/admin/api/licenses/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${server.runtimeSecret}`,
        'x-license-desk-user': 'test',
      },
      body: JSON.stringify({ holder: unique('holder'), plan: 'enterprise' }),
    });
  const authorize = (server: ServerProcess, key: string): Promise<Reply> =>
    server.post('/authorize/', { license_key: key, product_slug: 'default' });

  /** Creates licenses and checks one of them, until told to end. @returns the keys of those that were confirmed */
  function keepCalling(server: ServerProcess, known: string) {
    const keys: string[] = [];
    const refusals: Response[] = [];
    const checks: number[] = [];
    const over = new AbortController();
    const calling = (async () => {
      while (!over.signal.aborted) {
        const reply = await create(server);
        if (reply.status === 201 || reply.status === 200)
          keys.push(((await reply.json()) as { license: { license_key: string } }).license.license_key);
        else refusals.push(reply);
        checks.push((await authorize(server, known)).status);
      }
    })();
    return {
      keys,
      refusals,
      checks,
      async end(): Promise<void> {
        over.abort();
        await calling;
      },
    };
  }

  type Desk = Pick<TestServer, 'admin'>;

  async function newKey(server: Desk): Promise<string> {
    const { license } = await server.admin.createLicense({ holder: unique('holder'), plan: 'enterprise' });
    return license.license_key;
  }

  async function expectLicenses(server: Desk, keys: readonly string[]): Promise<void> {
    for (const key of keys)
      expect((await server.admin.showLicense({ ref: key })).license.license_key).toBe(key);
  }

  /** Before or after a move: nothing ends this server, so it needs no process, whose start takes much longer. */
  async function withServer<Result>(
    dataDir: string,
    work: (server: TestServer) => Promise<Result>,
    masterKey?: string,
  ): Promise<Result> {
    const server = await startTestServer({ dataDir, ...(masterKey !== undefined && { masterKey }) });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  }

  async function expectUsable(dataDir: string, keys: readonly string[], masterKey?: string): Promise<void> {
    const use = async (server: TestServer) => {
      await expectLicenses(server, keys);
      await newKey(server);
    };
    await withServer(dataDir, use, masterKey);
  }

  /** Moves under load, and expects that every confirmed license is in the new database. */
  async function moveUnderLoad(dataDir: string, to: string, known: string): Promise<Moved['moved']> {
    const server = await startServerProcess({ dataDir });
    const load = keepCalling(server, known);
    await eventually(() => expect(load.keys.length).toBeGreaterThan(2));
    const report = await moved(dataDir, to);
    await eventually(() => expect(load.refusals.length).toBeGreaterThan(0));
    await load.end();
    expect(new Set(load.checks)).toEqual(new Set([200]));
    for (const refusal of load.refusals) {
      expect(refusal.status).toBe(503);
      expect(refusal.headers.get('retry-after')).not.toBeNull();
      expect(await refusal.json()).toMatchObject({ error_code: 'unavailable' });
    }
    expect((await server.get('/health/ready/')).status).toBe(200);
    // A second command cannot begin anything else.
    expect((await move(dataDir, to)).stderr).toMatch(/in progress or complete/u);
    await server.kill();
    await expectUsable(dataDir, [known, ...load.keys]);
    return report;
  }

  it('loses nothing there and back, and every table keeps its rows', async () => {
    const dataDir = temporaryDirectory();
    await useEverything(await startTestServer({ dataDir }));
    const idOf = async ({ admin }: Desk, key: string) =>
      (await admin.showLicense({ ref: key })).license.license_id;
    const [known, id] = await withServer(dataDir, async (first) => {
      const key = await newKey(first);
      return [key, await idOf(first, key)] as const;
    });
    const there = await moveUnderLoad(dataDir, await newPostgresDatabase(), known);
    expect(there.from).toBe('sqlite');
    expect(isOnPostgres(dataDir)).toBe(true);
    const back = await moveUnderLoad(dataDir, 'sqlite', known);
    expect(back.to).toBe('sqlite');
    expect(isOnPostgres(dataDir)).toBe(false);
    expect(unwritten(there)).toHaveLength(UNWRITTEN.size);
    expect(unwritten(back)).toEqual(unwritten(there));
    expect(await withServer(dataDir, (last) => idOf(last, known))).toBe(id);
  });

  it('moves while indices for searches are still being built', async () => {
    const url = await newPostgresDatabase();
    const dataDir = await initialized(temporaryDirectory());
    await moved(dataDir, url);
    await writeRows(url, 'DROP INDEX licenses_pieces');
    const other = await connect({ url, file: '' });
    onTestFinished(() => other.close());
    const reading = await readingLicenses(other);
    const server = await startServerProcess({ dataDir });
    await server.logLines({ msg: 'building an index for searches' });
    await moved(dataDir, 'sqlite');
    await reading.rollback();
    await server.kill();
    expect(isOnPostgres(dataDir)).toBe(false);
    await expectUsable(dataDir, []);
  });

  it('waits for changes that have begun, without holding up what they need', async () => {
    const url = await newPostgresDatabase();
    const dataDir = await initialized(temporaryDirectory());
    await moved(dataDir, url);
    const server = await startServerProcess({ dataDir });
    const other = await connect({ url, file: '' });
    onTestFinished(() => other.close());
    const change = await other.transaction();
    const write = (table: string) =>
      other.query(`DELETE FROM ${table} WHERE id = 0`, { transaction: change });
    await other.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction: change });
    await write('webhooks');
    const moving = moved(dataDir, 'sqlite');
    await server.logLines({ msg: 'changes are refused until the database is moved' });
    await eventually(async () => {
      const [asking] = await other.query(
        "SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND query ~ '^(LOCK TABLE|ROLLBACK TO)'",
      );
      expect(asking).toHaveLength(1);
    });
    // If the move waited for the table above, it would hold those before it.
    await write('activations');
    await change.commit();
    await moving;
    await server.kill();
    await expectUsable(dataDir, []);
  });

  it.each<Kill>([
    { KILL_AT_QUERY: 'COPY licenses' },
    { KILL_AT_QUERY: 'CREATE INDEX licenses_plan ON public.' },
    { KILL_AT_QUERY: 'ALTER TABLE' },
    { KILL_AT_RENAME_TO: '/config.json' },
  ])('is on SQLite after a kill of the server at %j, and can be moved again', async (kill) => {
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir, ...killedAt(kill) });
    const key = await newKey(server);
    const to = await newPostgresDatabase();
    const { exitCode } = await move(dataDir, to);
    expect(exitCode).not.toBe(0);
    await server.ended;
    const other = await withServer(dataDir, async (again) => {
      await expectLicenses(again, [key]);
      const made = await newKey(again);
      await moved(dataDir, to);
      return made;
    });
    expect(isOnPostgres(dataDir)).toBe(true);
    await expectUsable(dataDir, [key, other]);
  });

  it.each<Kill>([
    { KILL_AT_QUERY: 'LOCK TABLE' },
    { KILL_AT_QUERY: 'CREATE TABLE database_move' },
    // PostgreSQL is marked then.
    { KILL_AT_RENAME_TO: '/config.json' },
  ])('is on PostgreSQL after a kill of the server at %j on the way back', async (kill) => {
    const dataDir = temporaryDirectory();
    await moved(await initialized(dataDir), await newPostgresDatabase());
    const server = await startServerProcess({ dataDir, ...killedAt(kill) });
    const key = await newKey(server);
    expect((await move(dataDir, 'sqlite')).exitCode).not.toBe(0);
    await server.ended;
    await withServer(dataDir, async (again) => {
      await expectLicenses(again, [key]);
      expect(isOnPostgres(dataDir)).toBe(true);
      // The server that was killed counts until it is lost.
      await eventually(() => moved(dataDir, 'sqlite'));
    });
    expect(isOnPostgres(dataDir)).toBe(false);
    await expectUsable(dataDir, [key]);
  });

  it.each(['PostgreSQL', 'SQLite'])(
    'changes nothing if the setting cannot be written, on the way to %s',
    async (to) => {
      const dataDir = await initialized(temporaryDirectory());
      const url = await newPostgresDatabase();
      if (to === 'SQLite') await moved(dataDir, url);
      const server = await startServerProcess({
        dataDir,
        program: fromSource('fail-at-fsync'),
        env: { FAIL_AT_FSYNC: 'file' },
      });
      const target = to === 'SQLite' ? 'sqlite' : url;
      expect((await move(dataDir, target)).exitCode).not.toBe(0);
      await server.logLines({ msg: 'the move of the database has failed; nothing has changed' });
      const key = await newKey(server);
      await server.kill();
      await withServer(dataDir, async (again) => {
        await expectLicenses(again, [key]);
        await newKey(again);
        // The server that was killed counts until it is lost.
        await eventually(() => moved(dataDir, target));
      });
      await expectUsable(dataDir, [key]);
      expect(isOnPostgres(dataDir)).toBe(to === 'PostgreSQL');
    },
  );

  async function initialized(dataDir: string): Promise<string> {
    await withServer(dataDir, newKey);
    return dataDir;
  }

  it('moves while devices are released and activated again', async () => {
    const dataDir = temporaryDirectory();
    const key = await withServer(dataDir, newKey);
    const devices = 3000;
    await writeRows(
      dataDir,
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${devices})
       INSERT INTO activations (license_id, machine_fingerprint, activated_at)
       SELECT (SELECT id FROM licenses), 'sha256:' || printf('%064x', i), 1 FROM n`,
    );
    const server = await startServerProcess({ dataDir });
    const over = new AbortController();
    let again = 0;
    const calling = (async () => {
      for (let number = 0; !over.signal.aborted; number = (number + 1) % devices) {
        const machine_fingerprint = fingerprintOf(number);
        const released = await server.admin
          .releaseDevice({ ref: key, machine_fingerprint })
          .catch(() => null);
        const { status } = await server.post('/activate/', { license_key: key, machine_fingerprint });
        if (released && status === 200) again += 1;
      }
    })();
    await eventually(() => expect(again).toBeGreaterThan(2));
    await moved(dataDir, await newPostgresDatabase());
    over.abort();
    await calling;
    await server.kill();
    await withServer(dataDir, async (after) => {
      // The last one may have been released only.
      const live = await after.admin.listDevices({ ref: key, limit: 1 });
      expect(live.items).toHaveLength(1);
      await newKey(after);
    });
  });

  it('a server that was frozen meanwhile confirms no change afterwards', async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    const env = { LICENSE_DESK_MASTER_KEY: masterKey };
    const url = await newPostgresDatabase();
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
    const flags = { 'database-url': url };
    const meetFrozen = async (server: TestServer) => {
      const key = await newKey(server);
      const frozen = await startServerProcess({ dataDir: temporaryDirectory(), flags, env });
      const states = async () => (await server.admin.listServers({})).items.map(({ state }) => state);
      // A server enters the list some time after it is ready.
      await eventually(async () => expect(await states()).toHaveLength(2));
      process.kill(frozen.pid, 'SIGSTOP');
      await eventually(async () => expect(await states()).toContain('lost'));
      await moved(dataDir, 'sqlite');
      process.kill(frozen.pid, 'SIGCONT');
      let isConfirmed = false;
      // First it has to reach PostgreSQL again.
      await eventually(async () => {
        const reply = await create(frozen);
        isConfirmed ||= reply.ok;
        expect(await reply.json()).toMatchObject({ message: expect.stringContaining('read-only') as string });
      });
      expect(isConfirmed).toBe(false);
      await frozen.kill();
      return key;
    };
    const key = await withServer(dataDir, meetFrozen, masterKey);
    await expectUsable(dataDir, [key], masterKey);
  });

  it('moves once for two commands at the same time', async () => {
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir });
    const key = await newKey(server);
    const targets = [await newPostgresDatabase(), await newPostgresDatabase()];
    const results = await Promise.all(targets.map((to) => move(dataDir, to)));
    const failed = (result: CliResult) => result.exitCode !== 0;
    expect(results.filter(failed)).toHaveLength(1);
    expect(results.find(failed)?.stderr).toMatch(/in progress or complete/u);
    await server.kill();
    await expectUsable(dataDir, [key]);
  });

  it('gives up when the command is killed, and the server goes on', async () => {
    const dataDir = temporaryDirectory();
    const server = await startServerProcess({ dataDir });
    const to = await newPostgresDatabase();
    const words = ['move-database', '--to', to, '--json', '--data-dir', dataDir];
    const command = spawn(process.execPath, [CLI_PROGRAM, ...words], { stdio: 'ignore' });
    await server.logLines({ msg: 'a move of the database has begun' });
    command.kill('SIGKILL');
    await once(command, 'exit');
    // Unless the move was faster, which this data directory shows.
    const outcome = await Promise.race([
      server
        .logLines({ msg: 'the move of the database has failed; nothing has changed' })
        .then(() => 'failed'),
      server
        .logLines({ msg: 'the database is moved: changes are refused until the next start' })
        .then(() => 'moved'),
    ]);
    if (outcome === 'failed') {
      await newKey(server);
      await moved(dataDir, to);
    }
    await server.kill();
    await expectUsable(dataDir, []);
    expect(isOnPostgres(dataDir)).toBe(true);
  });
});
