// A restore into PostgreSQL that is cut off: whether the database was replaced decides what the next start does, and no data
// is lost while that is not known.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { saveBackup } from '../helpers/backup-file.ts';
import { CLI_PROGRAM, runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTcpRelay, type TcpRelay } from '../helpers/tcp-relay.ts';
import { startTestServer } from '../helpers/test-server.ts';

const KILL_AT_QUERY = resolve(import.meta.dirname, '../helpers/kill-at-query.ts');

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`a restore into PostgreSQL that is cut off${why}`, () => {
  let dataDir: string;
  let backup: string;
  /** Past the relay. */
  let url: string;
  let relay: TcpRelay;
  /** The license in the backup, and the one that is newer. */
  let restored: string;
  let newer: string;

  beforeEach(async () => {
    dataDir = temporaryDirectory();
    backup = join(temporaryDirectory(), 'backup.tar');
    url = await newMigratedPostgresDatabase();
    const relayed = new URL(url);
    relay = await startTcpRelay(Number(relayed.port));
    relayed.port = String(relay.port);
    const settings = JSON.stringify({ database_url: relayed.href });
    writeFileSync(join(dataDir, 'config.json'), settings, { mode: 0o600 });
    const server = await startTestServer({ dataDir });
    ({ license_key: restored } = await newLicense(server));
    await saveBackup(server, backup);
    ({ license_key: newer } = await newLicense(server));
    await server.stop();
  });
  afterEach(() => relay.close());

  const words = () => ['restore', backup, '--accept-unsigned', '--yes', '--json', '--data-dir', dataDir];
  const start = (flags: Record<string, string> = {}) => startTestServer({ dataDir, flags });
  const keptFile = () => globSync(join(dataDir, 'before-restore-*', 'license-desk.db'))[0];
  const pending = () => readdirSync(dataDir).filter((name) => /^(?:before-)?restore-/u.test(name));
  const licensesIn = async (where: string) =>
    (
      (await selectRows(where, 'SELECT license_key FROM licenses ORDER BY id')) as { license_key: string }[]
    ).map(({ license_key }) => license_key);

  /** Another server on the database, with the same master key. */
  const startOther = () =>
    startTestServer({
      flags: { 'database-url': url },
      masterKey: readFileSync(join(dataDir, 'master.key'), 'utf8').trim(),
    });

  async function killBeforeCommit(): Promise<void> {
    const command = spawn(process.execPath, ['--import', KILL_AT_QUERY, CLI_PROGRAM, ...words()], {
      env: { ...process.env, KILL_AT_QUERY: 'ANALYZE licenses' },
      stdio: 'ignore',
    });
    expect(await once(command, 'exit')).toEqual([null, 'SIGKILL']);
    expect(keptFile()).toBeDefined();
    expect(await licensesIn(url)).toEqual([restored, newer]);
  }

  it('keeps the data from before when the answer to its commit is lost, and is finished by the next start', async () => {
    relay.loseAnswerTo((sent) => sent.includes('COMMIT') && keptFile() !== undefined);
    const { stderr, exitCode } = await runCli(words());
    expect(await licensesIn(url)).toEqual([restored]);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /^error: the restore is committed but not finished \(.*\); the next start of the server finishes it$/mu,
    );
    expect(stderr).not.toContain('nothing has changed');
    const left = pending();
    expect(left).toEqual([expect.stringMatching(/^before-restore-/u), 'restore-ready']);
    expect(await licensesIn(join(keptFile()!, '..'))).toEqual([restored, newer]);

    // The database does not answer.
    await relay.close();
    await expect(start()).rejects.toThrow(/has not confirmed the restore/u);
    expect(pending()).toEqual(left);

    // Another server uses the restored content.
    const other = await startOther();
    const { license_key: latest } = await newLicense(other);
    const direct = { 'database-url': url };
    await expect(start(direct)).rejects.toThrow(/has been completed/u);
    await other.stop();
    expect(pending()).toEqual([left[0]]);
    expect(await licensesIn(url)).toEqual([restored, latest]);
    expect(await licensesIn(join(keptFile()!, '..'))).toEqual([restored, newer]);
    const server = await start(direct);
    expect((await server.admin.showRestore({})).last).toMatchObject({ before: left[0] });
    await server.stop();
  });

  it('is canceled by the next start if it was killed before its commit and cannot be repeated', async () => {
    await killBeforeCommit();
    const other = await startOther();
    await expect(start()).rejects.toThrow(
      /was canceled, and nothing has changed: a License Desk server on .* uses the database/u,
    );
    await other.stop();
    expect(pending()).toEqual([]);
    expect(await licensesIn(url)).toEqual([restored, newer]);
  });

  it('is repeated by the next start if it was killed before its commit, and keeps what has changed since', async () => {
    await killBeforeCommit();
    const other = await startOther();
    const { license_key: latest } = await newLicense(other);
    await other.stop();
    await expect(start()).rejects.toThrow(/has been completed/u);
    expect(pending()).toEqual([expect.stringMatching(/^before-restore-/u)]);
    expect(await licensesIn(url)).toEqual([restored]);
    expect(await licensesIn(join(keptFile()!, '..'))).toEqual([restored, newer, latest]);
  });
});
