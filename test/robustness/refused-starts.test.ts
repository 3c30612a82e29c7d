// A start that cannot succeed: one clear line, exit code 1, and nothing is left behind or changed.
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { asCommand } from '../helpers/as-command.ts';
import { documentOf, runCli } from '../helpers/cli.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { freePort } from '../helpers/free-ports.ts';
import {
  type ProcessEnd,
  serveToEnd,
  type ServeOptions,
  startServerProcess,
  temporaryDirectory,
} from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

/** Starts, and expects exactly one line on stderr that says what is wrong. */
async function expectRefusal(options: ServeOptions, ...said: (string | RegExp)[]): Promise<ProcessEnd> {
  const end = await serveToEnd(options);
  const { code, stdout, stderr } = end;
  expect(stderr).toMatch(/^error: [^\n]+\n$/u);
  for (const part of said) expect(stderr).toMatch(part);
  expect(stdout).toBe('');
  expect(code).toBe(1);
  return end;
}

/** A data directory with a license in it, that no server runs on. */
async function usedDirectory(env: Record<string, string> = {}) {
  const dataDir = temporaryDirectory();
  const { license } = await asCommand(dataDir, (admin) => admin.createLicense({ holder: 'Kept' }), env);
  return { dataDir, license };
}

/** Starts on the directory, and expects its license there. */
async function expectUsable(
  dataDir: string,
  licenseKey: string,
  key: { masterKey?: string } = {},
): Promise<void> {
  const server = await startTestServer({ dataDir, ...key });
  expect((await server.admin.showLicense({ ref: licenseKey })).license.holder).toBe('Kept');
  await server.stop();
}

function newMasterKey(): string {
  return randomBytes(32).toString('base64');
}

it('names the server that has the data directory, and does not disturb it', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  await expectRefusal({ dataDir }, dataDir, `process ${server.pid}`, server.api);
  expect(readRuntimeFile(dataDir)).toMatchObject({ pid: server.pid, secret: server.runtimeSecret });
  expect((await server.get('/health/')).status).toBe(200);
  expect((await server.kill()).code).toBe(0);
});

it('takes over from a server that was killed, whose lock and runtime file are left', async () => {
  const dataDir = temporaryDirectory();
  const killed = await startServerProcess({ dataDir });
  await killed.kill('SIGKILL');
  expect(Object.keys(snapshotOf(dataDir))).toContain('runtime.json');
  const server = await startServerProcess({ dataDir });
  expect(server.pid).not.toBe(killed.pid);
  expect(server.runtimeSecret).not.toBe(killed.runtimeSecret);
  expect((await server.admin.serverInfo({})).api_base_url).toBe(server.api);
  expect((await server.kill()).code).toBe(0);
});

it.each(['port', 'admin-port'])('says that --%s is taken', async (flag) => {
  const port = await freePort();
  const other = createServer().listen(port, '127.0.0.1');
  await once(other, 'listening');
  const dataDir = temporaryDirectory();
  await expectRefusal({ dataDir, flags: { [flag]: String(port) } }, `--${flag}`, `127.0.0.1:${port}`);
  expect(Object.keys(snapshotOf(dataDir)).toSorted()).toEqual([
    'installation.json',
    'license-desk.db',
    'master.key',
    'server.lock',
  ]);
  other.close();
  const server = await startTestServer({ dataDir, flags: { [flag]: String(port) } });
  await server.stop();
});

it('reports that the data directory cannot be created', async () => {
  const file = join(temporaryDirectory(), 'file');
  writeFileSync(file, 'in the way');
  const dataDir = join(file, 'data');
  await expectRefusal({ dataDir }, dataDir);
});

it('names the option that is wrong on the command line, as wrong usage', async () => {
  const end = await serveToEnd({ dataDir: temporaryDirectory(), flags: { port: 'http' } });
  expect({ code: end.code, stdout: end.stdout, stderr: end.stderr }).toEqual({
    code: 2,
    stdout: '',
    stderr: 'error: --port must be between 0 and 65535 (got http)\n',
  });
});

it.each<[string, Partial<ServeOptions>, string | null, string[]]>([
  [
    'in the environment',
    { env: { LICENSE_DESK_SCAN_SECONDS: '-1' } },
    null,
    ['LICENSE_DESK_SCAN_SECONDS', '"-1"', 'seconds above 0'],
  ],
  ['in config.json', {}, '{"rate_limit": "much"}', ['rate_limit', '"much"', '0 to 1000000']],
  ['that is none, in config.json', {}, '{"colour": "red"}', ['config.json', '"colour"']],
  ['in a config.json that is no JSON', {}, '{"port": 1', ['config.json']],
  [
    'of TLS files that are not there',
    { flags: { tls: '/no/cert.pem,/no/key.pem' } },
    null,
    ['--tls', '/no/cert.pem'],
  ],
  [
    'of a back office that is open to the network',
    { env: { LICENSE_DESK_ADMIN_HOST: '0.0.0.0' } },
    null,
    ['--admin-host', '"0.0.0.0"', '--admin-url is not set'],
  ],
  [
    'of a database whose password is not encoded',
    { env: { LICENSE_DESK_DATABASE_URL: 'postgres://desk:100%@127.0.0.1:1/desk' } },
    null,
    ['LICENSE_DESK_DATABASE_URL', 'desk:********@127.0.0.1', 'postgres://user@host', 'percent-encoded'],
  ],
  [
    'of a master key',
    { env: { LICENSE_DESK_MASTER_KEY: 'c2hvcnQ=' } },
    null,
    ['LICENSE_DESK_MASTER_KEY', '32 bytes'],
  ],
])('names the setting that is wrong %s', async (_where, options, configFile, said) => {
  const dataDir = temporaryDirectory();
  if (configFile !== null) writeFileSync(join(dataDir, 'config.json'), configFile);
  await expectRefusal({ dataDir, ...options }, ...said);
});

it('leaves a database of a newer version alone', async () => {
  const { dataDir, license } = await usedDirectory();
  await writeRows(dataDir, `INSERT INTO migrations (name) VALUES ('0999-from-the-future')`);
  const before = snapshotOf(dataDir);
  await expectRefusal({ dataDir }, 'newer version', '0999-from-the-future');
  expect(snapshotOf(dataDir)).toEqual(before);
  await writeRows(dataDir, `DELETE FROM migrations WHERE name = '0999-from-the-future'`);
  await expectUsable(dataDir, license.license_key);
});

it('refuses another master key than the one that sealed the keys', async () => {
  const { dataDir, license } = await usedDirectory();
  const before = snapshotOf(dataDir);
  await expectRefusal({ dataDir, env: { LICENSE_DESK_MASTER_KEY: newMasterKey() } }, 'master key');
  expect(snapshotOf(dataDir)).toEqual(before);
  await expectUsable(dataDir, license.license_key);
});

it('creates no new master key if the old one is missing', async () => {
  const { dataDir, license } = await usedDirectory();
  const complete = snapshotOf(dataDir);
  const { 'master.key': _gone, ...without } = complete;
  const [row] = await selectRows(dataDir, 'SELECT private_key_sealed FROM signing_keys');
  rmSync(join(dataDir, 'master.key'));
  await expectRefusal({ dataDir }, 'master.key');
  expect(snapshotOf(dataDir)).toEqual(without);
  expect(await selectRows(dataDir, 'SELECT private_key_sealed FROM signing_keys')).toEqual([row]);
  // The key from the environment was right all along, had it been kept there.
  await expectRefusal({ dataDir, env: { LICENSE_DESK_MASTER_KEY: newMasterKey() } }, 'master key');
  expect(snapshotOf(dataDir)).toEqual(without);
  expect(license.holder).toBe('Kept');
});

it.each([
  ['empty', ''],
  ['cut off', 'AAAA\n'],
  ['text', 'not a key at all\n'],
])('refuses a master.key that is %s', async (_how, content) => {
  const { dataDir } = await usedDirectory();
  writeFileSync(join(dataDir, 'master.key'), content);
  const before = snapshotOf(dataDir);
  await expectRefusal({ dataDir }, 'master.key');
  expect(snapshotOf(dataDir)).toEqual(before);
});

it('keeps a master key from the environment out of the data directory', async () => {
  const masterKey = newMasterKey();
  const { dataDir, license } = await usedDirectory({ LICENSE_DESK_MASTER_KEY: masterKey });
  expect(Object.keys(snapshotOf(dataDir)).toSorted()).toEqual([
    'installation.json',
    'license-desk.db',
    'server.lock',
  ]);
  await expectUsable(dataDir, license.license_key, { masterKey });
  await expectRefusal({ dataDir }, 'LICENSE_DESK_MASTER_KEY');
  expect(Object.keys(snapshotOf(dataDir)).toSorted()).toEqual([
    'installation.json',
    'license-desk.db',
    'server.lock',
  ]);
});

type Damage = (file: string) => void;

it.each<[string, Damage]>([
  ['is no database', (file) => writeFileSync(file, randomBytes(9000))],
  ['is cut off', (file) => truncateSync(file, 40_000)],
  ['is overwritten behind its header', (file) => writeFileSync(file, readFileSync(file).fill('Z', 4096))],
  [
    'is a folder',
    (file) => {
      rmSync(file);
      mkdirSync(file);
    },
  ],
])('names the database file that %s, and what to do', async (_how, damage) => {
  const { dataDir } = await usedDirectory();
  const file = join(dataDir, 'license-desk.db');
  damage(file);
  const before = snapshotOf(dataDir);
  await expectRefusal({ dataDir }, file, 'SQLITE_', /restore|check/u);
  const listing = await runCli(['license', 'list', '--json', '--data-dir', dataDir]);
  expect(listing.exitCode).toBe(1);
  expect(documentOf(listing)).toMatchObject({
    ok: false,
    error_code: 'unavailable',
    message: expect.stringContaining(file) as string,
  });
  const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
  expect(doctor.stdout).toContain(file);
  expect(snapshotOf(dataDir)).toEqual(before);
});

it('names a lock file that is not a database', async () => {
  const dataDir = temporaryDirectory();
  const file = join(dataDir, 'server.lock');
  writeFileSync(file, randomBytes(9000));
  await expectRefusal({ dataDir }, file, 'move it away');
  rmSync(file);
  await (await startTestServer({ dataDir })).stop();
});

it.skipIf(process.platform === 'win32')(
  'names what the path of the data directory must not have',
  async () => {
    const place = temporaryDirectory();
    const dataDir = join(place, 'licenses:8787');
    const refused = `the data directory ${dataDir} cannot be used: its path must not contain :; choose another --data-dir`;
    await expectRefusal({ dataDir }, `error: ${refused}\n`);
    expect(readdirSync(place)).toEqual([]);
    mkdirSync(dataDir, { mode: 0o700 });
    expect((await runCli(['doctor', '--data-dir', dataDir])).stdout).toContain(`FAILED  ${refused}`);
  },
);

it.skipIf(process.platform === 'win32')('names a data directory that is a link to nothing', async () => {
  const dataDir = join(temporaryDirectory(), 'link');
  const target = join(temporaryDirectory(), 'unmounted');
  symlinkSync(target, dataDir);
  const refused = `the data directory ${dataDir} cannot be used: it is a symbolic link to nothing; check that its disk is mounted, or correct the link`;
  await expectRefusal({ dataDir }, `error: ${refused}\n`);
  expect(existsSync(target)).toBe(false);
  for (const words of [['doctor'], ['license', 'list']]) {
    const { stdout, stderr, exitCode } = await runCli([...words, '--data-dir', dataDir]);
    expect(stdout + stderr).toContain(refused);
    expect(exitCode).toBe(1);
  }
});
