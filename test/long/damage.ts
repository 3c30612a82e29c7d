// Overwritten pages of the database: nothing is answered with 500 or a wrong success, and a backup brings everything back.
import { closeSync, copyFileSync, mkdirSync, openSync, rmSync, statSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { spawnCli } from '../helpers/cli.ts';
import { selectRows } from '../helpers/database.ts';
import {
  type ServerProcess,
  serveToEnd,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import type { Reply } from '../helpers/test-server.ts';
import { checkRow, type Checks } from './fault-checks.ts';
import { createFaultLoad, type Loaded } from './fault-load.ts';
import { type Lane, runLane } from './lane.ts';
import { createRandom } from './random.ts';

const flags = { 'rate-limit': '0' };
const WRITES = 100;
const RUNNING_ROUNDS = 5;
const CALLS = 10;
/** Of some two hundred. */
const PAGES = 10;

/** Read by calls of `callAll`, or by nothing but a complete check. */
const TABLES = [
  'authorization_tokens',
  'licenses',
  'activations',
  'plans',
  'certificates',
  'events',
  'audit_entries',
];

interface Installation {
  /** Stopped, with everything in the database file. */
  dataDir: string;
  loaded: Loaded;
  licenseKey: string;
  token: string;
}

async function makeInstallation(seed: number): Promise<Installation> {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir, flags });
  const loaded = await createFaultLoad(server, seed);
  const running = loaded.start(server);
  await running.until('confirmed', WRITES);
  await running.stop();
  const entry = [...loaded.ledger.licenses.values()].find(({ revoked }) => revoked === null)!;
  const { token } = await server.admin.issueToken({ license: entry.key! });
  entry.tokens.push('confirmed');
  const { code } = await server.kill();
  if (code !== 0) throw new Error(`the stop ended with exit code ${code}`);
  return { dataDir, loaded, licenseKey: entry.key!, token };
}

const databaseOf = (dataDir: string) => join(dataDir, 'license-desk.db');

/** Overwrites bytes of a file where they are. */
function overwrite(file: string, at: number, bytes: Buffer): void {
  const descriptor = openSync(file, 'r+');
  writeSync(descriptor, bytes, 0, bytes.length, at);
  closeSync(descriptor);
}

interface Pages {
  size: number;
  /** First page of each table. */
  roots: Map<string, number>;
}

async function readPages(dataDir: string): Promise<Pages> {
  const [{ page_size: size }] = await selectRows(dataDir, 'PRAGMA page_size');
  const rows = await selectRows(dataDir, `SELECT name, rootpage FROM sqlite_master WHERE type = 'table'`);
  return { size, roots: new Map(rows.map(({ name, rootpage }) => [name as string, rootpage as number])) };
}

/** Calls of every kind. @returns the statuses that are neither a success nor 503 */
async function callAll(
  server: ServerProcess,
  { licenseKey, token }: Installation,
  stream: number,
): Promise<string[]> {
  const wrong: string[] = [];
  const fingerprint = `sha256:${stream.toString(16).padStart(64, '0')}`;
  const calls: [string, () => Promise<Reply>][] = [
    ['token', () => server.post('/authorize/token/', { token })],
    ['authorize', () => server.post('/authorize/', { license_key: licenseKey })],
    [
      'activate',
      () => server.post('/activate/', { license_key: licenseKey, machine_fingerprint: fingerprint }),
    ],
    ['health', () => server.get('/health/')],
    ['key', () => server.get('/public-key/')],
  ];
  for (const [name, call] of calls) {
    const { status, body } = await call();
    const isRefused = status === 503 && body.error_code === 'unavailable';
    if (status !== 200 && !isRefused) wrong.push(`${name} answered ${status} ${JSON.stringify(body)}`);
    if (name === 'token' && status === 200 && body.valid !== true) wrong.push('a good token is not valid');
  }
  return wrong;
}

async function stopAndExpectZero(server: ServerProcess, { expect }: Checks): Promise<void> {
  const { code } = await server.kill();
  expect(code === 0, `stopped with exit code ${code}`);
}

async function run(lane: Lane): Promise<void> {
  const installation = await makeInstallation(lane.seed);
  const { dataDir, loaded } = installation;
  const file = databaseOf(dataDir);
  const pages = await readPages(dataDir);
  const kept = join(temporaryDirectory(), 'kept.db');
  copyFileSync(file, kept);
  const putBack = () => {
    for (const suffix of ['-wal', '-shm']) rmSync(file + suffix, { force: true });
    copyFileSync(kept, file);
  };

  for (const table of TABLES) {
    await checkRow(
      lane,
      `first page of ${table}, while stopped`,
      'starts or refuses with one line; calls 200 or 503 unavailable; the kept file works again',
      async (checks) => {
        overwrite(file, (pages.roots.get(table)! - 1) * pages.size, Buffer.alloc(pages.size, 0xa5));
        const [server, refusal] = await startServerProcess({ dataDir, flags }).then(
          (started) => [started, null] as const,
          (error: unknown) => [null, (error as Error).message] as const,
        );
        if (server) {
          checks.failures.push(...(await callAll(server, installation, 1)));
          await checks.becomesNotReady(server, 'database');
          await checks.isAlive(server);
          await stopAndExpectZero(server, checks);
        } else {
          checks.expect(/ended with 1: error: [^\n]+\n$/u.test(refusal), refusal);
        }
        putBack();
        checks.failures.push(...(await loaded.faults()));
        return server ? 'started' : 'refused to start';
      },
    );
  }

  await checkRow(
    lane,
    'header page, while stopped',
    'the start is refused with one line and changes nothing; the kept file works again',
    async ({ expect, failures }) => {
      overwrite(file, 0, Buffer.alloc(pages.size, 0xa5));
      const { code, stderr } = await serveToEnd({ dataDir, flags });
      expect(code === 1 && /^error: [^\n]+\n$/u.test(stderr), `start ended with ${code}: ${stderr}`);
      putBack();
      failures.push(...(await loaded.faults()));
      return stderr.trim().replaceAll(dataDir, '…').slice(0, 100);
    },
  );

  await checkRow(
    lane,
    'random pages, while running',
    'calls 200 or 503 unavailable, no crash, exit code 0; a backup made before restores every confirmed write',
    async (checks) => {
      const backup = join(temporaryDirectory(), 'backup.ldbackup');
      let refused = 0;
      for (let round = 0; round < RUNNING_ROUNDS; round += 1) {
        const random = createRandom(lane.seed, round);
        const server = await startServerProcess({ dataDir, flags });
        rmSync(backup, { force: true });
        const made = await spawnCli(['backup', '--out', backup, '--data-dir', dataDir]);
        checks.expect(made.exitCode === 0, `backup: ${made.stderr}`);
        const count = statSync(file).size / pages.size;
        // Whole pages: SQLite keeps no checksums, and cannot tell a changed byte of a text from the right one.
        for (let page = 0; page < PAGES; page += 1)
          overwrite(file, random.integer(count) * pages.size, Buffer.alloc(pages.size, 0xa5));
        for (let call = 0; call < CALLS; call += 1) {
          const wrong = await callAll(server, installation, 1000 + round * CALLS + call);
          checks.failures.push(...wrong);
        }
        await checks.isAlive(server);
        refused += (await server.get('/health/')).status === 503 ? 1 : 0;
        await stopAndExpectZero(server, checks);
        const restoredDir = join(temporaryDirectory(), 'restored');
        mkdirSync(restoredDir, { mode: 0o700 });
        copyFileSync(join(dataDir, 'master.key'), join(restoredDir, 'master.key'));
        const words = ['restore', backup, '--data-dir', restoredDir, '--accept-unsigned', '--yes'];
        const restored = await spawnCli(words);
        checks.expect(restored.exitCode === 0, `restore: ${restored.stderr}`);
        const again = await startServerProcess({ dataDir: restoredDir, flags });
        const { body } = await again.post('/authorize/token/', { token: installation.token });
        checks.expect(body.valid === true, `the token after a restore: ${JSON.stringify(body)}`);
        await stopAndExpectZero(again, checks);
        checks.failures.push(...(await loaded.faults(restoredDir)));
        putBack();
      }
      checks.failures.push(...(await loaded.faults()));
      return `${RUNNING_ROUNDS} rounds of ${PAGES} pages, health refused after ${refused}`;
    },
  );
}

await runLane('damage', { count: 1, minutes: 10 }, run);
