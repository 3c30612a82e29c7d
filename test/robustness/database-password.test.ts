// The password of the database: where it may stand, and that nothing shows it.
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliOn, runCli } from '../helpers/cli.ts';
import { jsonCall } from '../helpers/raw-http.ts';
import { hasPostgres } from '../helpers/postgres-cluster.ts';
import { newMigratedPostgresDatabase } from '../helpers/postgres-database.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const PASSWORD = 'h1dden/pass';
const unreachable = (password = PASSWORD) =>
  `postgres://desk:${encodeURIComponent(password)}@127.0.0.1:1/licenses`;

/** Everything in the data directory, as text. */
function contentOf(directory: string): string {
  const entries = readdirSync(directory, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && entry.name !== 'config.json')
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n');
}

function expectHidden(...texts: string[]): void {
  for (const text of texts) {
    expect(text).not.toContain(PASSWORD);
    expect(text).not.toContain(encodeURIComponent(PASSWORD));
  }
}

describe('a password in the flag', () => {
  it.each([
    unreachable(),
    'postgres://desk@127.0.0.1:1/licenses?password=h1dden%2Fpass',
    `postgres://desk@server:${encodeURIComponent(PASSWORD)}@127.0.0.1:1/licenses`,
    `postgres://desk:two words ${encodeURIComponent(PASSWORD)}@127.0.0.1:1/licenses`,
  ])('stops the start: %s', async (url) => {
    const dataDir = temporaryDirectory();
    const { code, stderr } = await serveToEnd({ dataDir, flags: { 'database-url': url } });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: --database-url contains a password, .*-file\n$/u),
    ]);
    expectHidden(stderr);
    const listing = await runCli([
      'license',
      'list',
      '--json',
      '--data-dir',
      dataDir,
      `--database-url=${url}`,
    ]);
    expect(listing).toMatchObject({ exitCode: 1, stderr });
    expectHidden(listing.stdout);
  });

  it('stops the start for a replica, too', async () => {
    const flags = { 'replica-database-url': unreachable() };
    const { code, stderr } = await serveToEnd({ dataDir: temporaryDirectory(), flags });
    expect([code, stderr]).toEqual([
      1,
      expect.stringMatching(/^error: --replica-database-url contains a password, .*-file\n$/u),
    ]);
    expectHidden(stderr);
  });
});

describe('a database that cannot be reached', () => {
  const SOURCES: [name: string, given: (dataDir: string) => { env?: Record<string, string> }][] = [
    ['the environment', () => ({ env: { LICENSE_DESK_DATABASE_URL: unreachable() } })],
    [
      'config.json',
      (dataDir) => {
        const config = JSON.stringify({ database_url: unreachable() });
        writeFileSync(join(dataDir, 'config.json'), config, { mode: 0o600 });
        return {};
      },
    ],
    [
      'a file',
      (dataDir) => {
        const file = join(temporaryDirectory(), 'url');
        writeFileSync(file, `${unreachable()}\n`);
        return { env: { LICENSE_DESK_DATABASE_URL_FILE: file, LICENSE_DESK_DATA_DIR: dataDir } };
      },
    ],
  ];

  it.each(SOURCES)('is named without its password, as %s has it', async (_name, given) => {
    const dataDir = temporaryDirectory();
    const { env = {} } = given(dataDir);
    const { stderr } = await serveToEnd({ dataDir, env });
    expect(stderr).toMatch(/^error: the database 127\.0\.0\.1:1\/licenses cannot be reached/u);
    const doctor = await runCli(['doctor', '--data-dir', dataDir], { env });
    expect(doctor.stdout).toContain('127.0.0.1:1/licenses');
    expectHidden(stderr, doctor.stdout, doctor.stderr, contentOf(dataDir));
  });

  it.each([`mysql://desk:${PASSWORD}@127.0.0.1/licenses`, `postgres:desk:${PASSWORD}@127.0.0.1/licenses`])(
    'is refused without its password if it is not PostgreSQL: %s',
    async (url) => {
      const file = join(temporaryDirectory(), 'url');
      writeFileSync(file, url);
      const dataDir = temporaryDirectory();
      const { stderr } = await serveToEnd({ dataDir, flags: { 'database-url-file': file } });
      expect(stderr).toMatch(
        /^error: --database-url-file is "[^"]+\/url", which must contain a URL such as postgres:\/\//u,
      );
      expectHidden(stderr);
    },
  );

  it('is refused if it is given twice, or its file is missing', async () => {
    const dataDir = temporaryDirectory();
    const flags = { 'database-url-file': '/nonexistent/url' };
    const missing = await serveToEnd({ dataDir, flags });
    expect(missing.stderr).toMatch(/^error: --database-url-file cannot be read: ENOENT/u);
    const twice = await serveToEnd({ dataDir, flags, env: { LICENSE_DESK_DATABASE_URL: unreachable() } });
    expect(twice.stderr).toMatch(
      /^error: --database-url-file is "\/nonexistent\/url", but database_url is set too/u,
    );
    const doctor = await runCli(['doctor', '--data-dir', dataDir, '--database-url-file', '/nonexistent/url']);
    expect(doctor.stdout).toMatch(/^database +FAILED +--database-url-file cannot be read/mu);
  });
});

describe.skipIf(!hasPostgres)(
  'a database that is used (skipped without the Debian package postgresql)',
  () => {
    it('has its password shown nowhere, as its file has it', async () => {
      const database = await newMigratedPostgresDatabase();
      const url = database.replace('postgres@', `postgres:${encodeURIComponent(PASSWORD)}@`);
      const file = join(temporaryDirectory(), 'url');
      writeFileSync(file, `${url}\n`);
      const dataDir = temporaryDirectory();
      const server = await startServerProcess({ dataDir, flags: { 'database-url-file': file } });
      const cli = cliOn(dataDir);
      await cli.ok('license', 'create', '--holder', 'Kept');
      const shown = await cli.prints('settings', 'list');
      expect(shown).toContain(file);

      writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ database_url: url }), { mode: 0o600 });
      const contradiction = await cli.prints('settings', 'list');
      expect(contradiction).toContain('The next start will fail: --database-url-file is');
      expect(contradiction).toContain('postgres:********@127.0.0.1');
      const failure = await jsonCall(`${server.adminOrigin}/admin/api/settings/`, {
        method: 'PUT',
        headers: { authorization: `Bearer ${server.runtimeSecret}`, 'content-type': 'application/json' },
        body: JSON.stringify({
          changes: { database_url: unreachable(), base_url: `https://desk:${PASSWORD}@x` },
        }),
      });
      expect(failure.status).toBe(400);
      await cli.ok('settings', 'unset', 'database_url');
      const audit = await cli.ok('audit', 'list');
      expect(JSON.stringify(audit)).toContain('postgres:********@127.0.0.1');
      // It has to know the database that the server uses.
      const env = { LICENSE_DESK_DATABASE_URL_FILE: file };
      const doctor = await cliOn(dataDir, { env }).prints('doctor');
      const { stderr } = await server.kill();
      expectHidden(shown, contradiction, JSON.stringify(failure.body), JSON.stringify(audit), doctor, stderr);
      expectHidden(contentOf(dataDir));
      rmSync(file);
    });
  },
);
