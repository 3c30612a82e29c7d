// An installation whose database is gone must not become another one with a new signing key.
import { existsSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Sequelize } from 'sequelize';
import { describe, expect, it } from 'vitest';
import { PASSPHRASE } from '../helpers/backup-file.ts';
import { CLI_PROGRAM, cliOn, documentOf, runCli } from '../helpers/cli.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

type StartOptions = Parameters<typeof startTestServer>[0] & { dataDir: string };

const databaseOf = (dataDir: string) => join(dataDir, 'license-desk.db');

/** Starts a server on the directory, and stops it again. */
async function keyIdOf(options: StartOptions): Promise<string> {
  const server = await startTestServer(options);
  const { body } = await server.get('/public-key/');
  await server.stop();
  return body.key_id as string;
}

/** The lock is of no account. */
function contentOf(dataDir: string) {
  const files = Object.entries(snapshotOf(dataDir));
  // A start removes the runtime file of a killed server.
  return files.filter(([name]) => !name.startsWith('server.lock') && name !== 'runtime.json');
}

async function expectRefusal(options: StartOptions): Promise<void> {
  const before = contentOf(options.dataDir);
  const error: unknown = await keyIdOf(options).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ name: 'UnusableDatabaseError' });
  const { message } = error as Error;
  for (const part of [databaseOf(options.dataDir), 'license-desk restore', '--new-installation'])
    expect(message).toContain(part);
  expect(contentOf(options.dataDir)).toEqual(before);
}

/** What is left of a database whose log, with all tables in it, was not copied along. */
async function writeDatabaseWithoutTables(file: string): Promise<void> {
  const sequelize = new Sequelize({ dialect: 'sqlite', storage: file, logging: false });
  await sequelize.query('PRAGMA journal_mode = WAL');
  await sequelize.close();
}

type Loss = [how: string, lose: (file: string) => void | Promise<void>];
const LOSSES: Loss[] = [
  ['was deleted', (file) => rmSync(file)],
  ['has 0 bytes', (file) => truncateSync(file)],
  [
    'has no tables',
    async (file) => {
      rmSync(file);
      await writeDatabaseWithoutTables(file);
    },
  ],
];

describe.each<[string, { masterKey?: string }]>([
  ['in a file', {}],
  ['in the environment', { masterKey: Buffer.alloc(32, 3).toString('base64') }],
])('with the master key %s', (_where, key) => {
  it.each(LOSSES)('refuses to start when the database %s', async (_how, lose) => {
    const dataDir = await keptDataDir();
    const options = { dataDir, ...key };
    const keyId = await keyIdOf(options);
    await lose(databaseOf(dataDir));
    await expectRefusal(options);
    expect(await keyIdOf({ ...options, newInstallation: true })).not.toBe(keyId);
    // From now on it is an installation like any other.
    await keyIdOf(options);
    rmSync(databaseOf(dataDir));
    await expectRefusal(options);
  });
});

it('explains it on the command line, and accepts the remedy there', async () => {
  const dataDir = temporaryDirectory();
  const keyId = await keyIdOf({ dataDir });
  rmSync(databaseOf(dataDir));
  const program = [CLI_PROGRAM, 'serve'];
  const { code, stderr } = await serveToEnd({ dataDir, program });
  expect([code, stderr]).toEqual([1, expect.stringMatching(/^error: [^\n]+--new-installation[^\n]+\n$/u)]);

  const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
  const { checks } = documentOf<{ checks: { check: string; ok: boolean; detail: string }[] }>(doctor);
  expect(checks.filter(({ ok }) => !ok)).toMatchObject([
    { check: 'database', detail: expect.stringContaining('--new-installation') as string },
  ]);
  expect(await cliOn(dataDir).fails('license', 'list')).toMatchObject({ error_code: 'unavailable' });

  const server = await startServerProcess({ dataDir, program: [...program, '--new-installation'] });
  expect((await server.get('/public-key/')).body.key_id).not.toBe(keyId);
  expect((await server.kill()).code).toBe(0);
});

it('keeps the write-ahead log of a database that is gone', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  await server.admin.createLicense({ holder: 'Only in the log' });
  await server.kill('SIGKILL');
  rmSync(databaseOf(dataDir));
  expect(existsSync(`${databaseOf(dataDir)}-wal`)).toBe(true);
  await expectRefusal({ dataDir });
});

it('has everything of the first start in the database file, not only in its log', async () => {
  const dataDir = temporaryDirectory();
  const server = await startServerProcess({ dataDir });
  const { body } = await server.get('/public-key/');
  await server.kill('SIGKILL');
  for (const suffix of ['-wal', '-shm']) rmSync(`${databaseOf(dataDir)}${suffix}`, { force: true });
  expect(await keyIdOf({ dataDir })).toBe(body.key_id);
});

it('starts on a database that was restored after the loss', async () => {
  const dataDir = await keptDataDir();
  const cli = cliOn(dataDir);
  const keyId = await keyIdOf({ dataDir });
  const backup = join(temporaryDirectory(), 'backup.tar');
  await cli.ok('backup', '--out', backup);
  rmSync(databaseOf(dataDir));
  await expectRefusal({ dataDir });
  await cli.ok('restore', backup, '--accept-unsigned', '--yes');
  expect(await keyIdOf({ dataDir })).toBe(keyId);
});

it('goes by the key file where an installation is older than the marker', async () => {
  const dataDir = await keptDataDir();
  await keyIdOf({ dataDir });
  for (const name of ['installation.json', 'license-desk.db']) rmSync(join(dataDir, name));
  await expectRefusal({ dataDir });
});

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`an installation in PostgreSQL${why}`, () => {
  const masterKey = Buffer.alloc(32, 3).toString('base64');
  const settingsFile = (dataDir: string) => join(dataDir, 'config.json');
  const markerOf = (dataDir: string) => readFileSync(join(dataDir, 'installation.json'), 'utf8');

  function expectUnchanged(dataDir: string, marker: string): void {
    expect(markerOf(dataDir)).toBe(marker);
    for (const name of ['license-desk.db', 'master.key']) expect(existsSync(join(dataDir, name))).toBe(false);
  }

  it('does not become another one on SQLite without the environment of its server', async () => {
    const elsewhere = temporaryDirectory();
    const file = join(temporaryDirectory(), 'elsewhere.ldbackup');
    await cliOn(elsewhere).ok('license', 'create', '--holder', 'Elsewhere');
    await cliOn(elsewhere).ok('backup', '--out', file);

    const dataDir = temporaryDirectory();
    const flags = { 'database-url': await newMigratedPostgresDatabase() };
    const keyId = await keyIdOf({ dataDir, masterKey, flags });
    const marker = markerOf(dataDir);
    const name = /postgres:\/\/[^"]+/u.exec(marker)?.[0];
    const refusal = `${dataDir} belongs to an installation in ${name}, but no setting names that database; set LICENSE_DESK_DATABASE_URL or`;
    const backup = join(temporaryDirectory(), 'backup.ldbackup');
    for (const words of [
      ['license', 'list'],
      ['license', 'create', '--holder', 'Nobody'],
      ['backup', '--out', backup],
      ['restore', file, '--accept-unsigned', '--yes'],
    ]) {
      const failure = await cliOn(dataDir).fails(...words);
      expect(failure).toMatchObject({ error_code: 'unavailable' });
      expect(failure.message).toContain(refusal);
      const remedy = words[0] === 'restore' ? 'add --replace-database if it is lost' : '--new-installation';
      expect(failure.message).toContain(remedy);
    }
    expect(existsSync(backup)).toBe(false);
    const { code, stderr } = await serveToEnd({ dataDir, program: [CLI_PROGRAM, 'serve'] });
    expect([code, stderr]).toEqual([1, expect.stringContaining(refusal)]);
    const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
    const { checks } = documentOf<{ checks: { check: string; ok: boolean; detail: string }[] }>(doctor);
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([{ check: 'database' }]);
    expectUnchanged(dataDir, marker);

    expect(await keyIdOf({ dataDir, masterKey, flags })).toBe(keyId);
    expect(await keyIdOf({ dataDir, newInstallation: true })).not.toBe(keyId);
    await keyIdOf({ dataDir });
  });

  it('does not go back to an older SQLite database in its data directory', async () => {
    const dataDir = temporaryDirectory();
    const olderKey = await keyIdOf({ dataDir });
    const url = await newMigratedPostgresDatabase();
    await keyIdOf({ dataDir, flags: { 'database-url': url } });
    const before = contentOf(dataDir);
    const refusal =
      /no setting names that database; .*, or go on with the SQLite database [^ ]+\/license-desk\.db,/u;
    for (const words of [
      ['license', 'list'],
      ['license', 'create', '--holder', 'Nobody'],
      ['move-database', '--to', await newMigratedPostgresDatabase()],
    ]) {
      const failure = await cliOn(dataDir).fails(...words);
      expect(failure).toMatchObject({
        error_code: 'unavailable',
        message: expect.stringMatching(refusal) as string,
      });
    }
    await expect(keyIdOf({ dataDir })).rejects.toThrow(refusal);
    const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
    const { checks } = documentOf<{ checks: { check: string; ok: boolean; detail: string }[] }>(doctor);
    expect(checks.filter(({ ok }) => !ok)).toMatchObject([
      { check: 'database', detail: expect.stringMatching(refusal) as string },
    ]);
    expect(contentOf(dataDir)).toEqual(before);

    expect(await keyIdOf({ dataDir, newInstallation: true })).toBe(olderKey);
    expect(await keyIdOf({ dataDir })).toBe(olderKey);
  });

  it('does not go back to it after a backup was restored into PostgreSQL', async () => {
    const dataDir = temporaryDirectory();
    await keyIdOf({ dataDir });
    const backup = join(temporaryDirectory(), 'desk.ldbackup');
    const opened = ['--passphrase-file', passphraseFile()];
    await cliOn(dataDir).ok('backup', '--out', backup, ...opened);
    const env = { LICENSE_DESK_DATABASE_URL: await newMigratedPostgresDatabase() };
    const restore = ['restore', backup, ...opened, '--yes', '--replace-database'];
    const restored = await runCli([...restore, '--json', '--data-dir', dataDir], { env });
    expect(documentOf(restored)).toMatchObject({ ok: true });
    const { message } = await cliOn(dataDir).fails('license', 'create', '--holder', 'Nobody');
    expect(message).toContain('no setting names that database');
  });

  const passphraseFile = () => {
    const path = join(temporaryDirectory(), 'passphrase');
    writeFileSync(path, PASSPHRASE);
    return path;
  };

  it('is restored into SQLite if PostgreSQL is lost', async () => {
    const dataDir = temporaryDirectory();
    const keyId = await keyIdOf({ dataDir, flags: { 'database-url': await newMigratedPostgresDatabase() } });
    const marker = markerOf(dataDir);
    const backup = join(temporaryDirectory(), 'desk.ldbackup');
    const opened = ['--passphrase-file', passphraseFile()];
    const other = temporaryDirectory();
    const otherKey = await keyIdOf({ dataDir: other });
    await cliOn(other).ok('backup', '--out', backup, ...opened);

    const restore = ['restore', backup, ...opened, '--yes'];
    const { message } = await cliOn(dataDir).fails(...restore);
    expect(message).toMatch(/or add --replace-database if it is lost, to restore into SQLite instead$/u);
    expect(markerOf(dataDir)).toBe(marker);
    await cliOn(dataDir).ok(...restore, '--replace-database');
    expect(otherKey).not.toBe(keyId);
    expect(await keyIdOf({ dataDir })).toBe(otherKey);
    expect(markerOf(dataDir)).toContain('"sqlite"');
  });

  it('is not restored between a move to SQLite and the start that completes it', async () => {
    const dataDir = temporaryDirectory();
    const env = { LICENSE_DESK_DATABASE_URL: await newMigratedPostgresDatabase() };
    const flags = { 'database-url': env.LICENSE_DESK_DATABASE_URL };
    const keyId = await keyIdOf({ dataDir, flags });
    const backup = join(temporaryDirectory(), 'desk.ldbackup');
    const opened = ['--passphrase-file', passphraseFile()];
    const common = ['--json', '--data-dir', dataDir];
    documentOf(await runCli(['backup', '--out', backup, ...opened, ...common], { env }));
    documentOf(await runCli(['move-database', '--to', 'sqlite', ...common], { env }));

    const restore = ['restore', backup, ...opened, '--yes'];
    for (const words of [restore, [...restore, '--replace-database']]) {
      const { message } = await cliOn(dataDir).fails(...words);
      expect(message).toContain('was moved to SQLite; start the server once, which completes the move');
    }
    expect(await cliOn(dataDir).ok('doctor')).toMatchObject({ ok: true });
    expect(await keyIdOf({ dataDir })).toBe(keyId);
    await cliOn(dataDir).ok(...restore);
    expect(await keyIdOf({ dataDir })).toBe(keyId);
  });

  it('keeps the setting that names its database', async () => {
    const dataDir = temporaryDirectory();
    const settings = { database_url: await newMigratedPostgresDatabase() };
    writeFileSync(settingsFile(dataDir), JSON.stringify(settings), { mode: 0o600 });
    const server = await startTestServer({ dataDir, masterKey });
    const change = server.admin.updateSettings({ changes: { database_url: null } });
    await expect(change).rejects.toThrow(/no setting names that database/u);
    await server.stop();
    expect(JSON.parse(readFileSync(settingsFile(dataDir), 'utf8'))).toEqual(settings);
  });
});
