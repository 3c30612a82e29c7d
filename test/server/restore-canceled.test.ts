// A confirmed restore that the next start cannot put in place: it is canceled, nothing changes, and the administrator is told.
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { saveBackup } from '../helpers/backup-file.ts';
import { cliOn } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

const configure = (folder: string, settings: object) =>
  writeFileSync(join(folder, 'config.json'), JSON.stringify(settings), { mode: 0o600 });
const licensesOf = async ({ admin }: Pick<TestServer, 'admin'>) =>
  (await admin.listLicenses({})).items.map(({ license_key: key }) => key);
const licensesIn = (url: string) => selectRows(url, 'SELECT license_key FROM licenses');

/** @returns the backup as bytes, which lacks what is changed afterwards */
async function backupOf(server: TestServer): Promise<Blob> {
  const file = join(temporaryDirectory(), 'backup.tar');
  await saveBackup(server, file);
  return new Blob([readFileSync(file)]);
}

async function preview({ admin }: Pick<TestServer, 'admin'>, file: Blob): Promise<string> {
  await admin.uploadBackup({ file });
  return (await admin.previewRestore({ kind: 'upload', accept_unsigned: true })).restore_id;
}

describe.skipIf(!hasPostgres)(`a confirmed restore${why}`, () => {
  it('does not reach another database than the previewed one, and keeps its settings', async () => {
    const dataDir = temporaryDirectory();
    const url = await newMigratedPostgresDatabase();
    let server = await startTestServer({ dataDir });
    const backup = await backupOf(server);
    const { license_key: newer } = await newLicense(server);

    const restore_id = await preview(server, backup);
    await server.admin.updateSettings({ changes: { database_url: url } });
    await server.admin.confirmRestore({ restore_id });
    const kept = JSON.parse(readFileSync(join(dataDir, 'restore-ready', 'config.json'), 'utf8')) as object;
    expect(kept).toEqual({ database_url: url });
    await expect(server.admin.updateSettings({ changes: { database_url: null } })).rejects.toThrow(
      'database_url: cannot be changed while a confirmed restore is waiting for a restart',
    );
    await server.stop();

    await expect(startTestServer({ dataDir })).rejects.toThrow(
      /was canceled, and nothing has changed: the restore was confirmed for the database sqlite, but the settings now name postgres:/u,
    );
    expect(await licensesIn(url)).toEqual([]);
    configure(dataDir, {});
    server = await startTestServer({ dataDir });
    expect(await licensesOf(server)).toEqual([newer]);
    const { canceled, staged, last } = await server.admin.showRestore({});
    expect({ staged, last, reason: canceled?.reason }).toEqual({
      staged: null,
      last: null,
      reason: expect.stringContaining('the restore was confirmed for the database sqlite') as string,
    });
    // The next confirmed one takes its place.
    await server.admin.confirmRestore({ restore_id: await preview(server, backup) });
    expect((await server.admin.showRestore({})).canceled).toBeNull();
    await server.stop();
  });

  it('leaves the files of an earlier SQLite database together', async () => {
    const dataDir = temporaryDirectory();
    const source = await startTestServer();
    const file = join(temporaryDirectory(), 'backup.tar');
    await saveBackup(source, file);
    copyFileSync(join(source.dataDir, 'master.key'), join(dataDir, 'master.key'));
    await source.stop();
    configure(dataDir, { database_url: await newMigratedPostgresDatabase() });
    const files = ['license-desk.db', 'license-desk.db-wal', 'license-desk.db-shm'].map((name) =>
      join(dataDir, name),
    );
    for (const path of files) writeFileSync(path, 'earlier', { mode: 0o600 });
    await cliOn(dataDir).ok('restore', file, '--accept-unsigned', '--yes');
    expect(files.filter((path) => existsSync(path))).toEqual(files);
  });

  it('that is canceled by a start says so in the log, the audit log and the back office', async () => {
    const dataDir = temporaryDirectory();
    const url = await newMigratedPostgresDatabase();
    configure(dataDir, { database_url: url });
    const first = await startTestServer({ dataDir });
    const backup = await backupOf(first);
    await newLicense(first);
    await first.stop();

    const server = await startServerProcess({ dataDir });
    const masterKey = readFileSync(join(dataDir, 'master.key'), 'utf8').trim();
    const other = await startTestServer({ flags: { 'database-url': url }, masterKey });
    await server.admin.confirmRestore({ restore_id: await preview(server, backup) });
    await server.kill();
    const again = await startServerProcess({ dataDir });
    const reason = expect.stringContaining('uses the database') as string;
    await again.logLines({ msg: 'a confirmed restore was canceled, and nothing has changed' });
    expect(again.stderr()).toContain('uses the database');
    expect((await again.admin.showRestore({})).canceled).toMatchObject({
      source: 'the uploaded file',
      reason,
    });
    const audited = async () =>
      (await again.admin.listAudit({ action: 'backup.restore_cancelled', limit: 50 })).items;
    expect(await audited()).toMatchObject([
      { actor_kind: 'system', after: { source: 'the uploaded file', reason } },
    ]);
    expect(await cliOn(dataDir).prints('backup', 'status')).toMatch(
      /^Canceled restore: .*uses the database/mu,
    );
    expect(await licensesIn(url)).toHaveLength(1);
    await again.kill();
    // It is told once.
    const third = await startServerProcess({ dataDir });
    expect(
      (await third.admin.listAudit({ action: 'backup.restore_cancelled', limit: 50 })).items,
    ).toHaveLength(1);
    await third.kill();
    await other.stop();
  });
});
