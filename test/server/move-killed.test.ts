// A move that is killed leaves the old database in use or the new one, whichever step it had reached, and a second run
// completes it. `npm run test:long` kills at more steps than `npm test`.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { CLI_PROGRAM, documentOf, runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { firstOrAll } from '../helpers/long-lane.ts';
import { longTest } from '../helpers/long-test.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, newPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

const helper = (name: string) => resolve(import.meta.dirname, `../helpers/${name}.ts`);

/** What is in use afterwards: `old` until the settings name the new database. */
interface Kill {
  at: { KILL_AT_QUERY: string } | { KILL_AT_RENAME: string };
  inUse: 'old' | 'new';
}

interface Installation {
  dataDir: string;
  /** Of its license. */
  key: string;
}

describe.skipIf(!hasPostgres)(`a move that is killed${why}`, () => {
  /** On SQLite. Each test gets a copy of it. */
  let original: Installation;

  async function withLicense(dataDir: string): Promise<Installation> {
    const server = await startTestServer({ dataDir });
    const { license_key: key } = await newLicense(server);
    await server.stop();
    return { dataDir, key };
  }

  beforeAll(async () => {
    original = await withLicense(temporaryDirectory());
  });

  function onSqlite(): Installation {
    const dataDir = join(temporaryDirectory(), 'copy');
    cpSync(original.dataDir, dataDir, { recursive: true });
    return { ...original, dataDir };
  }

  async function onPostgres(): Promise<Installation> {
    const dataDir = temporaryDirectory();
    const setting = { database_url: await newMigratedPostgresDatabase() };
    writeFileSync(join(dataDir, 'config.json'), JSON.stringify(setting), { mode: 0o600 });
    return withLicense(dataDir);
  }

  async function moveWith(preload: string, env: object, dataDir: string, to: string) {
    const words = ['move-database', '--to', to, '--json', '--data-dir', dataDir];
    const command = spawn(process.execPath, ['--import', helper(preload), CLI_PROGRAM, ...words], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [code, signal]] = await Promise.all([
      text(command.stderr),
      once(command, 'exit') as Promise<[number | null, NodeJS.Signals | null]>,
    ]);
    return { code, signal, stderr };
  }

  async function killedMove(dataDir: string, to: string, { at }: Kill): Promise<void> {
    const preload = 'KILL_AT_QUERY' in at ? 'kill-at-query' : 'kill-at-rename';
    expect((await moveWith(preload, at, dataDir, to)).signal).toBe('SIGKILL');
  }

  const isOnPostgres = (dataDir: string) =>
    readdirSync(dataDir).includes('config.json') &&
    readFileSync(join(dataDir, 'config.json'), 'utf8').includes('postgres://');

  async function expectLicense({ dataDir, key }: Installation): Promise<void> {
    const server = await startTestServer({ dataDir });
    try {
      const { license } = await server.admin.showLicense({ ref: key });
      expect(license.license_key).toBe(key);
    } finally {
      await server.stop();
    }
  }

  async function moveOn(installation: Installation, to: string): Promise<void> {
    const { dataDir } = installation;
    documentOf(await runCli(['move-database', '--to', to, '--json', '--data-dir', dataDir]));
    await expectLicense(installation);
    const left = readdirSync(dataDir).filter((file) => file.startsWith('database-move'));
    expect(left).toEqual([]);
  }

  const KILLS_TO_POSTGRES: readonly Kill[] = [
    // The record of the move, the setting, and the SQLite file.
    { at: { KILL_AT_RENAME: '2' }, inUse: 'old' },
    { at: { KILL_AT_RENAME: '3' }, inUse: 'new' },
    { at: { KILL_AT_QUERY: 'COPY licenses' }, inUse: 'old' },
    { at: { KILL_AT_QUERY: 'CREATE INDEX licenses_plan ON public.' }, inUse: 'old' },
    { at: { KILL_AT_QUERY: 'DROP TABLE database_move' }, inUse: 'new' },
  ];
  it.each(firstOrAll(1, KILLS_TO_POSTGRES))('to PostgreSQL, $at', async (kill) => {
    const installation = onSqlite();
    const { dataDir } = installation;
    const url = await newPostgresDatabase();
    await killedMove(dataDir, url, kill);
    expect(isOnPostgres(dataDir)).toBe(kill.inUse === 'new');
    if (kill.inUse === 'new') return expectLicense(installation);
    // A server refuses the copy, with rows or without.
    if (!('KILL_AT_QUERY' in kill.at && kill.at.KILL_AT_QUERY === 'COPY licenses')) {
      const start = startTestServer({ flags: { 'database-url': url } });
      await expect(start).rejects.toThrow(/unfinished move from sqlite .*move-database` again/u);
    }
    // The old database is used in between.
    if ('KILL_AT_RENAME' in kill.at) await expectLicense(installation);
    await moveOn(installation, url);
  });

  const KILLS_TO_SQLITE: readonly Kill[] = [
    { at: { KILL_AT_RENAME: '2' }, inUse: 'old' },
    { at: { KILL_AT_RENAME: '3' }, inUse: 'new' },
    { at: { KILL_AT_QUERY: 'FETCH' }, inUse: 'old' },
  ];
  it.each(firstOrAll(1, KILLS_TO_SQLITE))('to SQLite, $at', async (kill) => {
    const installation = await onPostgres();
    const { dataDir } = installation;
    await killedMove(dataDir, 'sqlite', kill);
    expect(isOnPostgres(dataDir)).toBe(kill.inUse === 'old');
    if (kill.inUse === 'new') return expectLicense(installation);
    await expectLicense(installation);
    await moveOn(installation, 'sqlite');
  });

  /** After the mark of the move, before or after the setting that names the new database is in place. */
  describe.each(firstOrAll(1, ['PostgreSQL', 'SQLite']))(
    'or whose setting cannot be written, to %s',
    (to) => {
      async function failedAt(point: 'file' | 'directory' | 'next') {
        const installation = to === 'SQLite' ? await onPostgres() : onSqlite();
        const { dataDir } = installation;
        const target = to === 'SQLite' ? 'sqlite' : await newPostgresDatabase();
        const outcome = await moveWith('fail-at-fsync', { FAIL_AT_FSYNC: point }, dataDir, target);
        return { installation, isMoved: isOnPostgres(dataDir) === (to === 'PostgreSQL'), target, ...outcome };
      }

      it('fails, leaves the old database in use, and can be run again', async () => {
        const { installation, isMoved, target, code, stderr } = await failedAt('file');
        expect(code).not.toBe(0);
        expect(stderr).toContain('EIO');
        expect(isMoved).toBe(false);
        await expectLicense(installation);
        await moveOn(installation, target);
        expect(isOnPostgres(installation.dataDir)).toBe(to === 'PostgreSQL');
      });

      longTest('is complete if only the flush of its directory entry failed', async () => {
        const { installation, isMoved, code, stderr } = await failedAt('directory');
        expect(stderr).toBe('');
        expect(code).toBe(0);
        expect(isMoved).toBe(true);
        await expectLicense(installation);
      });

      longTest('says that the next start completes it if a later step fails', async () => {
        const { installation, isMoved, code, stderr } = await failedAt('next');
        expect(code).toBe(1);
        expect(stderr).toMatch(
          /EIO.*; the data was moved, and the settings name [^;]+; start the server of/u,
        );
        expect(isMoved).toBe(true);
        await expectLicense(installation);
      });
    },
  );

  it('to SQLite with a full disk leaves PostgreSQL to all servers', async () => {
    const { dataDir, key } = await onPostgres();
    const env = { FAIL_AT_FSYNC: 'file', FAIL_WITH: 'ENOSPC' };
    const { code, stderr } = await moveWith('fail-at-fsync', env, dataDir, 'sqlite');
    expect(code).toBe(1);
    expect(stderr).toMatch(/the disk of the data directory is full .*; nothing has changed$/mu);
    expect(readdirSync(dataDir).filter((file) => file.startsWith('database-move'))).toEqual([]);

    const another = temporaryDirectory();
    for (const name of ['config.json', 'master.key']) cpSync(join(dataDir, name), join(another, name));
    const server = await startTestServer({ dataDir: another });
    expect((await server.admin.showLicense({ ref: key })).license.license_key).toBe(key);
    await newLicense(server);
    await server.stop();
  });
});
