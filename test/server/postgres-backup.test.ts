// Backups of an installation on PostgreSQL have the format of all others, and are restored into either database.
import {
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MIGRATIONS, SCHEMA } from '#server/database/migrate.ts';
import { issue, serialsIn } from '../certificates/issuing.ts';
import { PASSPHRASE } from '../helpers/backup-file.ts';
import { documentOf, runCli } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { listAs } from '../helpers/crl.ts';
import { selectRows, writeRows } from '../helpers/database.ts';
import { readEverything, useEverything } from '../helpers/every-table.ts';
import { daysAhead, hasFaketime } from '../helpers/faketime.ts';
import { readTables, writeOldDatabase } from '../helpers/old-database.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase, newPostgresDatabase } from '../helpers/postgres-database.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

interface Restored {
  restored: { before: string | null; licenses: number };
  preview: { present: { counts: { licenses: number }; revived: { licenses: { count: number } } } | null };
}

const masterKeyOf = (dataDir: string) => readFileSync(join(dataDir, 'master.key'), 'utf8').trim();

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`backups on PostgreSQL${why}`, () => {
  const dataDir = temporaryDirectory();
  /** A copy from before its data moved to PostgreSQL. */
  const onSqlite = temporaryDirectory();
  const folder = temporaryDirectory('backups');
  const passphraseFile = join(temporaryDirectory(), 'passphrase');
  const file = join(folder, 'desk.ldbackup');
  let url: string;

  const backup = (...words: string[]) =>
    runCli(['backup', ...words, '--passphrase-file', passphraseFile, '--json', '--data-dir', dataDir]);
  const restore = (into: string, source = file, ...words: string[]) =>
    runCli([
      'restore',
      source,
      '--passphrase-file',
      passphraseFile,
      '--yes',
      '--json',
      '--data-dir',
      into,
      ...words,
    ]);

  async function onServer<Result>(
    directory: string,
    work: (server: TestServer) => Promise<Result>,
  ): Promise<Result> {
    const server = await startTestServer({ dataDir: directory });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  }

  const licensesIn = async (address: string) =>
    (await selectRows(address, 'SELECT * FROM licenses ORDER BY id')) as { license_key: string }[];

  beforeAll(async () => {
    writeFileSync(passphraseFile, PASSPHRASE);
    await useEverything(await startTestServer({ dataDir }));
    cpSync(dataDir, onSqlite, { recursive: true });
    url = await newPostgresDatabase();
    documentOf(await runCli(['move-database', '--to', url, '--json', '--data-dir', dataDir]));
  });

  it('are made while the server runs, and contain everything', async () => {
    const revoked = await onServer(dataDir, async (server) => {
      const license = await newLicense(server, { holder: 'Revoked after the backup' });
      documentOf(await backup('--out', file));
      await server.admin.revokeLicense({ ref: license.license_key });
      return license;
    });
    // Into SQLite, in an empty data directory: the settings of the database stay what they are there.
    const elsewhere = temporaryDirectory();
    expect(documentOf<Restored>(await restore(elsewhere)).preview.present).toBeNull();
    expect(existsSync(join(elsewhere, 'license-desk.db'))).toBe(true);
    const [there, here] = [
      await onServer(elsewhere, readEverything),
      await onServer(dataDir, readEverything),
    ];
    for (const name of ['listPlans', 'listTokens', 'listCertificates', 'listLeaseGroups'])
      expect(there[name]).toEqual(here[name]);

    // Into the database that it is from.
    const { restored, preview } = documentOf<Restored>(await restore(dataDir));
    expect(preview.present?.revived.licenses.count).toBe(1);
    await onServer(dataDir, async ({ admin }) => {
      expect((await admin.showLicense({ ref: revoked.license_key })).license.state).toBe('issued');
    });
    // The data from before is a backup, too.
    expect(readdirSync(restored.before ?? '')).toContain('license-desk.db');
    documentOf(await restore(dataDir, restored.before ?? ''));
    await onServer(dataDir, async ({ admin }) => {
      expect((await admin.showLicense({ ref: revoked.license_key })).license.state).toBe('revoked');
    });
  });

  it('leave certificates from after them revoked', async () => {
    const before = join(folder, 'before.ldbackup');
    const { stolen, orphan } = await onServer(dataDir, async (server) => {
      const { license_id } = await newLicense(server);
      documentOf(await backup('--out', before));
      const issued = { stolen: await issue(server, { license_id }), orphan: await issue(server) };
      await server.admin.revokeCertificate({ id: issued.stolen.certificate.id });
      return issued;
    });
    documentOf(await restore(dataDir, before));
    await onServer(dataDir, async (server) => {
      const serials = serialsIn(await listAs(server, 'der'));
      for (const { certificate } of [stolen, orphan]) expect(serials).toContain(certificate.serial_number);
      const { id } = stolen.certificate;
      expect((await server.admin.showCertificate({ id })).certificate.status).toBe('revoked');
    });
  });

  it('leave everything as it is when they cannot be restored', async () => {
    const before = await licensesIn(url);
    // Its reference keeps the tables from being replaced.
    await writeRows(url, 'CREATE TABLE foreign_rows (plan BIGINT REFERENCES plans (id))');
    const { stderr, exitCode } = await restore(dataDir);
    await writeRows(url, 'DROP TABLE foreign_rows');
    expect({ stderr, exitCode }).toMatchObject({ exitCode: 1 });
    expect(stderr).toMatch(/^error: the backup cannot be restored: .*foreign key constraint/u);
    expect(await licensesIn(url)).toEqual(before);
    // Another server on the same database.
    const other = await startTestServer({ flags: { 'database-url': url }, masterKey: masterKeyOf(dataDir) });
    expect((await restore(dataDir)).stderr).toMatch(
      /a License Desk server on 127\.0\.0\.1 uses the database/u,
    );
    await other.stop();
    expect(readdirSync(dataDir).filter((name) => name.startsWith('restore-'))).toEqual([]);
  });

  it('do not replace a database that a new data directory only knows by its name, unless told to', async () => {
    const checked = join(folder, 'checked.ldbackup');
    documentOf(await backup('--out', checked));
    const { license_key: newer } = await onServer(dataDir, (server) => newLicense(server));
    const keys = async (where: string) => (await licensesIn(where)).map(({ license_key }) => license_key);
    const before = await keys(url);
    const env = { LICENSE_DESK_DATABASE_URL: url };
    const newDirectory = () => join(temporaryDirectory(), 'new');
    const into = (directory: string, words: string[], options = {}) => {
      const common = ['--passphrase-file', passphraseFile, '--yes', '--json', '--data-dir', directory];
      return runCli(['restore', checked, ...common, ...words], options);
    };

    const directory = newDirectory();
    const refused = await into(directory, [], { env });
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/without LICENSE_DESK_DATABASE_URL, or add --replace-database/u);
    expect((await into(directory, ['--database-url', url])).stderr).toContain('without --database-url, or');
    expect(existsSync(directory)).toBe(false);
    documentOf(await into(directory, []));
    expect(await keys(directory)).not.toContain(newer);
    // Once more, beside what the first check has left.
    expect((await into(directory, [], { env })).exitCode).toBe(1);
    expect(await keys(url)).toEqual(before);

    // Only the data directory is lost: the key from the backup opens the database.
    const found = newDirectory();
    mkdirSync(found, { mode: 0o700 });
    copyFileSync(join(directory, 'master.key'), join(found, 'master.key'));
    const flags = { 'database-url': url };
    const server = await startTestServer({ dataDir: found, flags });
    expect((await server.admin.showLicense({ ref: newer })).license.license_key).toBe(newer);
    await server.stop();

    // A new machine.
    const replaced = newDirectory();
    documentOf(await into(replaced, ['--replace-database'], { env }));
    expect(await keys(url)).not.toContain(newer);
    await (await startTestServer({ dataDir: replaced, flags })).stop();
    documentOf(await into(replaced, [], { env }));
  });

  it('are written daily, and restored from the back office into an empty database', async () => {
    await onServer(dataDir, async ({ admin }) => {
      await admin.updateSettings({
        changes: { backup_schedule: 'daily', backup_folder: folder, backup_passphrase_file: passphraseFile },
      });
    });
    const { last } = await onServer(dataDir, async ({ admin }) => admin.runBackup({}));
    expect(last?.path).toContain(folder);

    const another = temporaryDirectory();
    writeFileSync(
      join(another, 'config.json'),
      JSON.stringify({ database_url: await newMigratedPostgresDatabase(), backup_folder: folder }),
    );
    await onServer(another, async ({ admin }) => {
      const name = last?.path?.slice(folder.length + 1) ?? '';
      const { restore_id, preview } = await admin.previewRestore({
        kind: 'folder',
        name,
        passphrase: PASSPHRASE,
      });
      expect(preview.counts.licenses).toBeGreaterThan(20);
      await admin.confirmRestore({ restore_id });
    });
    await expect(startTestServer({ dataDir: another })).rejects.toThrow(/start again/u);
    const keys = await onServer(another, async ({ admin }) =>
      (await admin.listLicenses({ limit: 500 })).items.map(({ license_key }) => license_key),
    );
    const there = (await licensesIn(url)).map(({ license_key }) => license_key);
    expect(keys.toSorted()).toEqual(there.toSorted());
  });

  it('are not restored over the schema of an earlier version, which the preview leaves as it is', async () => {
    const old = await newPostgresDatabase();
    const tables = await readTables(join(onSqlite, 'license-desk.db'));
    const schema = MIGRATIONS.at(-2)?.name ?? '';
    await writeOldDatabase({ url: old, file: '' }, schema, tables);
    const into = temporaryDirectory();
    copyFileSync(join(dataDir, 'master.key'), join(into, 'master.key'));
    const settings = JSON.stringify({ database_url: old });
    writeFileSync(join(into, 'config.json'), settings, { mode: 0o600 });
    const applied = () => selectRows(old, 'SELECT name FROM migrations ORDER BY name DESC LIMIT 1');
    const { stderr, exitCode } = await restore(into);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(
      /was written by an earlier version of License Desk; start a server of this version once to update it, then restore/u,
    );
    expect(await applied()).toEqual([{ name: schema }]);
    await onServer(into, async () => {});
    documentOf(await restore(into));
    expect(await applied()).toEqual([{ name: SCHEMA }]);
  });

  it('are checked by doctor', async () => {
    const checked = async () => {
      const doctor = await runCli(['doctor', '--json', '--data-dir', dataDir]);
      const { checks } = documentOf<{ checks: { check: string }[] }>(doctor);
      return checks.find(({ check }) => check === 'backup');
    };
    expect(await checked()).toMatchObject({
      ok: true,
      detail: expect.stringContaining(`daily to ${folder}`) as string,
    });
    rmSync(passphraseFile);
    expect(await checked()).toMatchObject({
      ok: false,
      detail: expect.stringContaining(passphraseFile) as string,
    });
  });

  it.skipIf(!hasFaketime())(
    'are due once a day on a machine whose clock is behind the one of PostgreSQL',
    async () => {
      const behind = await startServerProcess({
        dataDir: temporaryDirectory(),
        prefix: daysAhead(-70 / (24 * 60)),
        flags: {
          'database-url': await newMigratedPostgresDatabase(),
          'backup-schedule': 'daily',
          'backup-folder': temporaryDirectory('backups'),
          'backup-hour': String(new Date().getHours()),
        },
      });
      onTestFinished(async () => void (await behind.kill()));
      const { next_at } = await behind.admin.runBackup({});
      expect(Date.parse(next_at as string)).toBeGreaterThan(Date.now());
    },
  );
});
