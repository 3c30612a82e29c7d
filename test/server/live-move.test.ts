// `license-desk move-database` beside a running server: it answers all the time, refuses changes at the end, and loses
// nothing that it has confirmed, even if the server or the command is killed. `npm test` kills the server just before the
// setting names the new database, `npm run test:long` at earlier steps and on the way back, too.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { CLI_PROGRAM, type CliResult, documentOf, runCli } from '../helpers/cli.ts';
import { unique } from '../helpers/contract-calls.ts';
import { writeRows } from '../helpers/database.ts';
import { useEverything } from '../helpers/every-table.ts';
import { eventually } from '../helpers/eventually.ts';
import { firstOrAll } from '../helpers/long-lane.ts';
import { longTest } from '../helpers/long-test.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import {
  newMigratedPostgresDatabase,
  newPostgresDatabase,
  readingLicenses,
} from '../helpers/postgres-database.ts';
import { SERVE, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { fingerprintOf, type Reply, startTestServer, type TestServer } from '../helpers/test-server.ts';

interface Moved {
  moved: { from: string; to: string; rows: number; tables: { name: string; rows: number; sha256: string }[] };
}

/** The server, with a helper that is loaded before it. */
const preloaded = (helper: string) => [
  '--import',
  resolve(import.meta.dirname, `../helpers/${helper}.ts`),
  ...SERVE,
];
/** Ends the server at this point of a move. */
type Kill = { KILL_AT_QUERY: string } | { KILL_AT_RENAME_TO: string };
const killedAt = (env: Kill) => ({
  program: preloaded('KILL_AT_QUERY' in env ? 'kill-at-query' : 'kill-at-rename'),
  env,
});

/** Between the calls of a load, which would otherwise keep the move from getting on. */
const PAUSE_MS = 10;

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

  const create = (server: Pick<TestServer, 'adminOrigin' | 'runtimeSecret'>) =>
    fetch(`${server.adminOrigin}/admin/api/licenses/`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${server.runtimeSecret}`,
        'x-license-desk-user': 'test',
      },
      body: JSON.stringify({ holder: unique('holder'), plan: 'enterprise' }),
    });
  const authorize = (server: Pick<TestServer, 'post'>, key: string): Promise<Reply> =>
    server.post('/authorize/', { license_key: key, product_slug: 'default' });

  /** Creates licenses and checks one of them, until told to end. @returns the keys of those that were confirmed */
  function keepCalling(server: TestServer, known: string) {
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
        await delay(PAUSE_MS);
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

  /** An installation on SQLite with one license, which each test gets a copy of. */
  const original = temporaryDirectory();
  beforeAll(() => withServer(original, newKey));

  function installation(): string {
    const dataDir = join(temporaryDirectory(), 'copy');
    cpSync(original, dataDir, { recursive: true });
    return dataDir;
  }

  /** A new data directory for a PostgreSQL database. */
  function directoryOn(url: string): string {
    const dataDir = temporaryDirectory();
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
    return dataDir;
  }

  async function logged({ dataDir }: TestServer, message: string): Promise<void> {
    const lines = () =>
      globSync(join(dataDir, 'logs', 'license-desk*')).flatMap((file) =>
        readFileSync(file, 'utf8').split('\n'),
      );
    await eventually(() =>
      expect(lines().filter((line) => line.includes(`"msg":"${message}"`))).not.toEqual([]),
    );
  }

  async function newKey(server: Desk): Promise<string> {
    const { license } = await server.admin.createLicense({ holder: unique('holder'), plan: 'enterprise' });
    return license.license_key;
  }

  async function expectLicenses(server: Desk, keys: readonly string[]): Promise<void> {
    for (const key of keys)
      expect((await server.admin.showLicense({ ref: key })).license.license_key).toBe(key);
  }

  /** Nothing kills this server, so it needs no process, whose start takes much longer. */
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
    const [report, confirmed] = await withServer(dataDir, async (server) => {
      const load = keepCalling(server, known);
      await eventually(() => expect(load.keys.length).toBeGreaterThan(2));
      const there = await moved(dataDir, to);
      await eventually(() => expect(load.refusals.length).toBeGreaterThan(0));
      await load.end();
      expect(new Set(load.checks)).toEqual(new Set([200]));
      for (const refusal of load.refusals) {
        expect(refusal.status).toBe(503);
        expect(refusal.headers.get('retry-after')).not.toBeNull();
        expect(await refusal.json()).toMatchObject({ error_code: 'unavailable' });
      }
      expect((await server.get('/health/ready/')).status).toBe(200);
      // This lasts until the restart, which an administrator who did not run the command has to learn from the reply.
      expect(await (await create(server)).json()).toMatchObject({
        message: 'the database has been moved: restart this server, which refuses changes until then',
      });
      expect((await server.admin.listAlerts({})).alerts).toContainEqual(
        expect.objectContaining({ code: 'database_moved', severity: 'critical', params: { to: there.to } }),
      );
      // A second command cannot begin anything else.
      expect((await move(dataDir, to)).stderr).toMatch(/in progress or complete/u);
      return [there, load.keys] as const;
    });
    await expectUsable(dataDir, [known, ...confirmed]);
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
    const url = await newMigratedPostgresDatabase();
    await writeRows(url, 'DROP INDEX licenses_pieces');
    const dataDir = directoryOn(url);
    const other = await connect({ url, file: '' });
    onTestFinished(() => other.close());
    const reading = await readingLicenses(other);
    await withServer(dataDir, async (server) => {
      await logged(server, 'building an index for searches');
      await moved(dataDir, 'sqlite');
      await reading.rollback();
      const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
      expect(documentOf<{ checks: object[] }>(doctor).checks).toContainEqual({
        check: 'database',
        ok: true,
        detail: 'the next start completes its move',
      });
    });
    expect(isOnPostgres(dataDir)).toBe(false);
    await expectUsable(dataDir, []);
  });

  it('waits for changes that have begun, without holding up what they need', async () => {
    const url = await newMigratedPostgresDatabase();
    const dataDir = directoryOn(url);
    await withServer(dataDir, async () => {
      const other = await connect({ url, file: '' });
      onTestFinished(() => other.close());
      const change = await other.transaction();
      const write = (table: string) =>
        other.query(`DELETE FROM ${table} WHERE id = 0`, { transaction: change });
      await other.query('SET LOCAL idle_in_transaction_session_timeout = 0', { transaction: change });
      await write('webhooks');
      const moving = moved(dataDir, 'sqlite');
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
    });
    await expectUsable(dataDir, []);
  });

  const KILLS_TO_POSTGRES: readonly Kill[] = [
    { KILL_AT_RENAME_TO: '/config.json' },
    { KILL_AT_QUERY: 'COPY licenses' },
    { KILL_AT_QUERY: 'CREATE INDEX licenses_plan ON public.' },
    { KILL_AT_QUERY: 'ALTER TABLE' },
  ];
  const toPostgres = firstOrAll(1, KILLS_TO_POSTGRES);
  it.each(toPostgres)(
    'is on SQLite after a kill of the server at %j, and can be moved again',
    async (kill) => {
      const dataDir = installation();
      const server = await startServerProcess({ dataDir, ...killedAt(kill) });
      const key = await newKey(server);
      const to = await newPostgresDatabase();
      expect(documentOf(await move(dataDir, to))).toMatchObject({
        ok: false,
        error_code: 'unavailable',
        message: `the server on ${dataDir} ended before it answered; check whether the change was made, and run the command again if not`,
      });
      await server.ended;
      const other = await withServer(dataDir, async (again) => {
        await expectLicenses(again, [key]);
        const made = await newKey(again);
        await moved(dataDir, to);
        return made;
      });
      expect(isOnPostgres(dataDir)).toBe(true);
      await expectUsable(dataDir, [key, other]);
    },
  );

  /** The server that was killed counts until it is lost. */
  const forgetServers = (url: string) => writeRows(url, 'DELETE FROM servers');

  const KILLS_TO_SQLITE: readonly Kill[] = [
    // PostgreSQL is marked then.
    { KILL_AT_RENAME_TO: '/config.json' },
    { KILL_AT_QUERY: 'LOCK TABLE' },
    { KILL_AT_QUERY: 'CREATE TABLE database_move' },
  ];
  const toSqlite = firstOrAll(0, KILLS_TO_SQLITE);
  it.each(toSqlite)('is on PostgreSQL after a kill of the server at %j on the way back', async (kill) => {
    const url = await newMigratedPostgresDatabase();
    const dataDir = directoryOn(url);
    const server = await startServerProcess({ dataDir, ...killedAt(kill) });
    const key = await newKey(server);
    expect((await move(dataDir, 'sqlite')).exitCode).not.toBe(0);
    await server.ended;
    await forgetServers(url);
    await withServer(dataDir, async (again) => {
      await expectLicenses(again, [key]);
      expect(isOnPostgres(dataDir)).toBe(true);
      await moved(dataDir, 'sqlite');
    });
    expect(isOnPostgres(dataDir)).toBe(false);
    await expectUsable(dataDir, [key]);
  });

  it.each(firstOrAll(1, ['PostgreSQL', 'SQLite']))(
    'changes nothing if the setting cannot be written, on the way to %s',
    async (to) => {
      const isToSqlite = to === 'SQLite';
      const url = await (isToSqlite ? newMigratedPostgresDatabase() : newPostgresDatabase());
      const dataDir = isToSqlite ? directoryOn(url) : installation();
      const server = await startServerProcess({
        dataDir,
        program: preloaded('fail-at-fsync'),
        env: { FAIL_AT_FSYNC: 'file' },
      });
      const target = isToSqlite ? 'sqlite' : url;
      expect((await move(dataDir, target)).exitCode).not.toBe(0);
      await server.logLines({ msg: 'the move of the database has failed; nothing has changed' });
      const key = await newKey(server);
      await server.kill();
      await withServer(dataDir, async (again) => {
        await expectLicenses(again, [key]);
        await newKey(again);
        await moved(dataDir, target);
      });
      await expectUsable(dataDir, [key]);
      expect(isOnPostgres(dataDir)).toBe(to === 'PostgreSQL');
    },
  );

  it('moves while devices are released and activated again', async () => {
    const dataDir = installation();
    const devices = 3000;
    await writeRows(
      dataDir,
      `WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i + 1 < ${devices})
       INSERT INTO activations (license_id, machine_fingerprint, activated_at)
       SELECT (SELECT id FROM licenses), 'sha256:' || printf('%064x', i), 1 FROM n`,
    );
    const keyOf = async ({ admin }: Desk) => (await admin.listLicenses({})).items[0]!.license_key;
    const key = await withServer(dataDir, async (server) => {
      const ref = await keyOf(server);
      const over = new AbortController();
      let again = 0;
      const calling = (async () => {
        for (let number = 0; !over.signal.aborted; number = (number + 1) % devices) {
          const machine_fingerprint = fingerprintOf(number);
          const released = await server.admin.releaseDevice({ ref, machine_fingerprint }).catch(() => null);
          const { status } = await server.post('/activate/', { license_key: ref, machine_fingerprint });
          if (released && status === 200) again += 1;
          await delay(PAUSE_MS);
        }
      })();
      await eventually(() => expect(again).toBeGreaterThan(2));
      await moved(dataDir, await newPostgresDatabase());
      over.abort();
      await calling;
      return ref;
    });
    await withServer(dataDir, async (after) => {
      // The last one may have been released only.
      const live = await after.admin.listDevices({ ref: key, limit: 1 });
      expect(live.items).toHaveLength(1);
      await newKey(after);
    });
  });

  longTest('a server that was frozen meanwhile confirms no change afterwards', async () => {
    const masterKey = Buffer.alloc(32, 7).toString('base64');
    const env = { LICENSE_DESK_MASTER_KEY: masterKey };
    const url = await newMigratedPostgresDatabase();
    const dataDir = directoryOn(url);
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

  it('is refused unless the server reads the URL in the file that its next start will read', async () => {
    const dataDir = installation();
    const config = join(dataDir, 'config.json');
    const settings = () => (existsSync(config) ? readFileSync(config, 'utf8') : null);
    const before = settings();
    const url = await newPostgresDatabase();
    const folder = temporaryDirectory();
    const [missing, other, file] = [join(folder, 'missing'), join(folder, 'other'), join(folder, 'url')];
    writeFileSync(other, 'postgres://desk:secret@127.0.0.1/other\n');
    writeFileSync(file, `${url}\n`);
    await withServer(dataDir, async (server) => {
      const refusal = async (path: string) => {
        const reply = await fetch(`${server.adminOrigin}/admin/api/database/move/`, {
          method: 'POST',
          headers: {
            'content-type': 'application/json',
            authorization: `Bearer ${server.runtimeSecret}`,
            'x-license-desk-user': 'root',
          },
          body: JSON.stringify({ url, file: path }),
        });
        expect(reply.status).toBe(400);
        return ((await reply.json()) as { message: string }).message;
      };
      expect(await refusal(missing)).toMatch(/could not start again: .*no such file.*missing.*chown$/u);
      const differs = await refusal(other);
      expect(differs).toContain(`a different URL in ${other}`);
      expect(differs).not.toContain('secret');
      expect(settings()).toBe(before);
      await newKey(server);
      documentOf(await runCli(['move-database', '--to-file', file, '--json', '--data-dir', dataDir]));
      expect(JSON.parse(settings() ?? '')).toMatchObject({ database_url_file: file });
    });
    await expectUsable(dataDir, []);
  });

  it('moves once for two commands at the same time', async () => {
    const dataDir = installation();
    const targets = [await newPostgresDatabase(), await newPostgresDatabase()];
    const key = await withServer(dataDir, async (server) => {
      const made = await newKey(server);
      const results = await Promise.all(targets.map((to) => move(dataDir, to)));
      const failed = (result: CliResult) => result.exitCode !== 0;
      expect(results.filter(failed)).toHaveLength(1);
      expect(results.find(failed)?.stderr).toMatch(/in progress or complete/u);
      return made;
    });
    await expectUsable(dataDir, [key]);
  });

  longTest('gives up when the command is killed, and the server goes on', async () => {
    const dataDir = installation();
    const to = await newPostgresDatabase();
    await withServer(dataDir, async (server) => {
      const words = ['move-database', '--to', to, '--json', '--data-dir', dataDir];
      const command = spawn(process.execPath, [CLI_PROGRAM, ...words], { stdio: 'ignore' });
      await logged(server, 'a move of the database has begun');
      command.kill('SIGKILL');
      await once(command, 'exit');
      // Unless the move was faster, which this data directory shows.
      const outcome = await Promise.race([
        logged(server, 'the move of the database has failed; nothing has changed').then(() => 'failed'),
        logged(server, 'the database is moved: changes are refused until the next start').then(() => 'moved'),
      ]);
      if (outcome === 'failed') {
        await newKey(server);
        await moved(dataDir, to);
      }
    });
    await expectUsable(dataDir, []);
    expect(isOnPostgres(dataDir)).toBe(true);
  });
});
