// A move that is killed leaves the old database in use or the new one, whichever step it had reached, and a second run
// completes it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, it } from 'vitest';
import { documentOf, runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

const project = resolve(import.meta.dirname, '../..');
/** The source: the build has its own copy of the driver's code. */
const PROGRAM = join(project, 'cli/main.ts');
const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

const helper = (name: string) => resolve(import.meta.dirname, `../helpers/${name}.ts`);

/** What is in use afterwards: `old` until the settings name the new database. */
interface Kill {
  at: { KILL_AT_QUERY: string } | { KILL_AT_RENAME: string };
  inUse: 'old' | 'new';
}

describe.skipIf(!hasPostgres)(`a move that is killed${why}`, () => {
  const original = temporaryDirectory();
  let key: string;

  beforeAll(async () => {
    const server = await startTestServer({ dataDir: original });
    ({ license_key: key } = await newLicense(server));
    await server.stop();
  });

  async function moveWith(preload: string, env: object, dataDir: string, to: string) {
    const words = ['move-database', '--to', to, '--json', '--data-dir', dataDir];
    const command = spawn(process.execPath, ['--import', helper(preload), PROGRAM, ...words], {
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

  async function expectLicense(dataDir: string): Promise<void> {
    const server = await startTestServer({ dataDir });
    try {
      const { license } = await server.admin.showLicense({ ref: key });
      expect(license.license_key).toBe(key);
    } finally {
      await server.stop();
    }
  }

  async function moveOn(dataDir: string, to: string): Promise<void> {
    documentOf(await runCli(['move-database', '--to', to, '--json', '--data-dir', dataDir]));
    await expectLicense(dataDir);
    const left = readdirSync(dataDir).filter((file) => file.startsWith('database-move'));
    expect(left).toEqual([]);
  }

  it.each<Kill>([
    { at: { KILL_AT_QUERY: 'COPY licenses' }, inUse: 'old' },
    { at: { KILL_AT_QUERY: 'CREATE INDEX licenses_plan ON public.' }, inUse: 'old' },
    // The record of the move, the setting, and the SQLite file.
    { at: { KILL_AT_RENAME: '2' }, inUse: 'old' },
    { at: { KILL_AT_RENAME: '3' }, inUse: 'new' },
    { at: { KILL_AT_QUERY: 'DROP TABLE database_move' }, inUse: 'new' },
  ])('to PostgreSQL, $at', async (kill) => {
    const dataDir = join(temporaryDirectory(), 'copy');
    cpSync(original, dataDir, { recursive: true });
    const url = await newPostgresDatabase();
    await killedMove(dataDir, url, kill);
    expect(isOnPostgres(dataDir)).toBe(kill.inUse === 'new');
    if (kill.inUse === 'new') return expectLicense(dataDir);
    // A server refuses the copy, with rows or without.
    if (!('KILL_AT_QUERY' in kill.at && kill.at.KILL_AT_QUERY === 'COPY licenses')) {
      const start = startTestServer({ flags: { 'database-url': url } });
      await expect(start).rejects.toThrow(/unfinished move from sqlite .*move-database` again/u);
    }
    // The old database is used in between.
    if ('KILL_AT_RENAME' in kill.at) await expectLicense(dataDir);
    await moveOn(dataDir, url);
  });

  it.each<Kill>([
    { at: { KILL_AT_QUERY: 'FETCH' }, inUse: 'old' },
    { at: { KILL_AT_RENAME: '2' }, inUse: 'old' },
    { at: { KILL_AT_RENAME: '3' }, inUse: 'new' },
  ])('to SQLite, $at', async (kill) => {
    const dataDir = join(temporaryDirectory(), 'copy');
    cpSync(original, dataDir, { recursive: true });
    documentOf(
      await runCli(['move-database', '--to', await newPostgresDatabase(), '--json', '--data-dir', dataDir]),
    );
    await killedMove(dataDir, 'sqlite', kill);
    expect(isOnPostgres(dataDir)).toBe(kill.inUse === 'old');
    if (kill.inUse === 'new') return expectLicense(dataDir);
    await expectLicense(dataDir);
    await moveOn(dataDir, 'sqlite');
  });

  /** After the mark of the move, before or after the setting that names the new database is in place. */
  describe.each(['PostgreSQL', 'SQLite'])('or whose setting cannot be written, to %s', (to) => {
    async function failedAt(point: 'file' | 'directory') {
      const dataDir = join(temporaryDirectory(), 'copy');
      cpSync(original, dataDir, { recursive: true });
      const url = await newPostgresDatabase();
      if (to === 'SQLite')
        documentOf(await runCli(['move-database', '--to', url, '--json', '--data-dir', dataDir]));
      const target = to === 'SQLite' ? 'sqlite' : url;
      const outcome = await moveWith('fail-at-fsync', { FAIL_AT_FSYNC: point }, dataDir, target);
      return { dataDir, target, ...outcome };
    }

    it('fails, leaves the old database in use, and can be run again', async () => {
      const { dataDir, target, code, stderr } = await failedAt('file');
      expect(code).not.toBe(0);
      expect(stderr).toContain('EIO');
      expect(isOnPostgres(dataDir)).toBe(to === 'SQLite');
      await expectLicense(dataDir);
      await moveOn(dataDir, target);
      expect(isOnPostgres(dataDir)).toBe(to === 'PostgreSQL');
    });

    it('is complete if only the flush of its directory entry failed', async () => {
      const { dataDir, code, stderr } = await failedAt('directory');
      expect(stderr).toBe('');
      expect(code).toBe(0);
      expect(isOnPostgres(dataDir)).toBe(to === 'PostgreSQL');
      await expectLicense(dataDir);
    });
  });
});
