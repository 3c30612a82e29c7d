// `license-desk move-database` moves everything to PostgreSQL and back, or nothing.
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { connect } from '#server/database/connect.ts';
import { EXIT_CODES } from '../../cli/exit-codes.ts';
import { documentOf, runCli } from '../helpers/cli.ts';
import { databaseAt, selectRows } from '../helpers/database.ts';
import { eventually } from '../helpers/eventually.ts';
import { readEverything, useEverything } from '../helpers/every-table.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { copyMigratedDatabase } from '../helpers/migrated-database.ts';
import { lastingTransaction, newPostgresDatabase } from '../helpers/postgres-database.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';

interface Table {
  name: string;
  rows: number;
  sha256: string;
}

interface Moved {
  moved: { from: string; to: string; tables: Table[]; before: string | null; remove: string[] };
}

/** The server of the tests lets every password pass. */
const PASSWORD = 'geheim-4711';
/** What a server writes while it runs, or the move itself. */
const WRITTEN_SINCE = new Set([
  'audit_entries',
  'deliveries',
  'delivery_attempts',
  'lease_clock',
  'lease_pools',
  'lease_usage',
  'leases',
  'service_marks',
]);

const why = hasPostgres ? '' : ' (skipped: Debian package postgresql is not installed)';

describe.skipIf(!hasPostgres)(`move-database${why}`, () => {
  const dataDir = temporaryDirectory();
  const urlFile = join(temporaryDirectory(), 'url');
  const move = (words: readonly string[], env: Record<string, string> = {}) =>
    runCli(['move-database', ...words, '--json', '--data-dir', dataDir], { env });
  const refusal = async (words: readonly string[], env: Record<string, string> = {}) => {
    const { stderr, exitCode } = await move(words, env);
    expect(stderr).not.toContain(PASSWORD);
    return { stderr, exitCode };
  };
  let url: string;
  let name: string;

  async function onServer<Result>(work: (server: TestServer) => Promise<Result>): Promise<Result> {
    const server = await startTestServer({ dataDir });
    try {
      return await work(server);
    } finally {
      await server.stop();
    }
  }

  const unchanged = (tables: readonly Table[]) => tables.filter((table) => !WRITTEN_SINCE.has(table.name));
  const settings = () => JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8')) as object;

  beforeAll(async () => {
    const plain = await newPostgresDatabase();
    url = plain.replace('postgres@', `postgres:${PASSWORD}@`);
    name = plain.replace('postgres@', '');
    writeFileSync(urlFile, `${url}\n`);
    writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 77 }');
    await useEverything(await startTestServer({ dataDir }));
  });

  it('refuses what cannot work, and leaves everything as it is', async () => {
    expect(await refusal([])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('is required') });
    expect(await refusal(['--to', url])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('process list'),
    });
    expect(await refusal(['--to', 'mysql://x'])).toMatchObject({ exitCode: 2 });
    expect(await refusal(['--to', 'sqlite'])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('in SQLite already'),
    });
    // Another installation's database.
    const foreign = await newPostgresDatabase();
    const server = await startTestServer({ flags: { 'database-url': foreign } });
    expect((await refusal(['--to', foreign])).stderr).toMatch(
      /a License Desk server on .* uses the database/u,
    );
    await server.stop();
    expect((await refusal(['--to', foreign])).stderr).toMatch(/is not empty: it has \d+ tables/u);
    expect((await refusal(['--to', foreign.replace(/\/\w+$/u, '/missing')])).stderr).toMatch(
      /\/missing cannot be reached .*does not exist/u,
    );
    expect((await refusal(['--to', 'postgres://127.0.0.1:1/desk'])).stderr).toMatch(/cannot be reached/u);
    expect(settings()).toEqual({ scan_seconds: 77 });
    expect(existsSync(join(dataDir, 'license-desk.db'))).toBe(true);
  });

  it('moves every table to PostgreSQL and back, and the same calls get the same answers', async () => {
    const before = await onServer(readEverything);
    const there = documentOf<Moved>(await move([], { LICENSE_DESK_MOVE_TO: url })).moved;
    expect(there).toMatchObject({ from: 'sqlite', to: name, remove: [] });
    expect(there.tables.filter(({ rows }) => rows === 0)).toEqual([]);
    expect(settings()).toEqual({ scan_seconds: 77, database_url: url });
    expect(statSync(join(dataDir, 'config.json')).mode & 0o077).toBe(0);
    // The SQLite file is kept, where no server takes it for its database.
    const kept = readdirSync(dataDir).find((file) => file.startsWith('before-move-'));
    expect(there.before).toBe(join(dataDir, kept ?? ''));
    expect(readdirSync(there.before ?? '')).toEqual(['license-desk.db']);
    expect((await refusal(['--to-file', urlFile])).stderr).toContain('in PostgreSQL already');

    await onServer(async (server) => {
      expect(await readEverything(server)).toEqual(before);
      const { items } = await server.admin.listLicenses({ search: 'nová 漢' });
      expect(items.map(({ holder }) => holder)).toEqual(['Nová 漢 "q" \\N']);
      const [entry] = (await server.admin.listAudit({ action: 'database.moved' })).items;
      expect(entry).toMatchObject({ before: { database: 'sqlite' }, after: { database: name } });
    });

    const back = documentOf<Moved>(await move(['--to', 'sqlite'])).moved;
    expect(back).toMatchObject({ from: name, to: 'sqlite', before: null, remove: [] });
    expect(unchanged(back.tables)).toEqual(unchanged(there.tables));
    expect(settings()).toEqual({ scan_seconds: 77 });
    await onServer(async (server) => {
      expect(await readEverything(server)).toEqual(before);
      expect((await server.admin.listLicenses({ search: 'nová 漢' })).items).toHaveLength(1);
      const { license } = await server.admin.createLicense({ holder: 'After' });
      await server.admin.revokeLicense({ ref: license.license_key });
    });

    // Events go on above the IDs that were assigned before, also those of removed ones.
    const [{ id }] = await selectRows(dataDir, 'SELECT max(id) AS id FROM events');
    expect(id).toBeGreaterThan(1000);

    // What the move has left in PostgreSQL is for no server, and for no other move.
    await expect(startTestServer({ flags: { 'database-url-file': urlFile } })).rejects.toThrow(
      /was moved to sqlite/u,
    );
    expect((await refusal(['--to-file', urlFile])).stderr).toMatch(/from before a move to sqlite/u);
    const logs = join(dataDir, 'logs');
    for (const file of readdirSync(logs))
      expect(readFileSync(join(logs, file), 'utf8')).not.toContain(PASSWORD);
  });

  it('says that nothing has changed if the connection is lost while the tables are created', async () => {
    const to = await newPostgresDatabase();
    // Without the name of a server, beside which a move is refused.
    const observed = `${to}?application_name=observer`;
    const connection = await connect(databaseAt(observed));
    // Creating the same table waits for this transaction.
    const holding = await lastingTransaction(connection, 'CREATE TABLE licenses (id integer)');
    const refused = refusal(['--to', to]);
    const waiting = `FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()`;
    await eventually(async () => expect(await selectRows(observed, `SELECT pid ${waiting}`)).toHaveLength(1));
    await selectRows(observed, `SELECT pg_terminate_backend(pid) ${waiting}`);
    const { stderr } = await refused;
    expect(stderr).toMatch(/PostgreSQL .* has ended the connection .*; nothing has changed/u);
    expect(stderr).toContain(to.replace('postgres@', ''));
    await holding.commit();
    await connection.close();
  });

  it('moves what no server has used yet', async () => {
    const unused = temporaryDirectory();
    await copyMigratedDatabase(unused);
    const to = await newPostgresDatabase();
    documentOf(await runCli(['move-database', '--to', to, '--json', '--data-dir', unused]));
    // The first start makes the keys.
    await (await startTestServer({ dataDir: unused })).stop();
  });

  it('waits for the environment to change where that names PostgreSQL', async () => {
    const env = { LICENSE_DESK_DATABASE_URL: await newPostgresDatabase() };
    documentOf<Moved>(await move(['--to', env.LICENSE_DESK_DATABASE_URL]));
    writeFileSync(join(dataDir, 'config.json'), '{}');
    const pending = async () => {
      const { moved } = documentOf<Moved>(await move(['--to', 'sqlite'], env));
      expect(moved.remove).toEqual(['LICENSE_DESK_DATABASE_URL']);
      expect(existsSync(join(dataDir, 'license-desk.db'))).toBe(false);
    };
    await pending();
    const { stderr, exitCode } = await runCli(['license', 'count', '--data-dir', dataDir], { env });
    expect(stderr).toContain('remove LICENSE_DESK_DATABASE_URL, then start the server');
    expect(exitCode).toBe(EXIT_CODES.failure);
    expect(existsSync(join(dataDir, 'database-move.db'))).toBe(true);
    // A start on PostgreSQL returns to it.
    const server = await startTestServer({
      dataDir,
      flags: { 'database-url': env.LICENSE_DESK_DATABASE_URL },
    });
    await server.admin.createLicense({ holder: 'Back again' });
    await server.stop();
    await pending();
    await onServer(async ({ admin }) => {
      expect((await admin.listLicenses({ search: 'back again' })).items).toHaveLength(1);
    });
    expect(readdirSync(dataDir).filter((file) => file.startsWith('database-move'))).toEqual([]);
  });
});
