import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, test } from 'vitest';
import { CLI_PROGRAM, cliOn, runCli, spawnedCliOn } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { makePemFiles } from '../helpers/tls-client.ts';

/** Through the command line, in the build and in the sources alike. */
const program = [CLI_PROGRAM, 'serve'];

let dataDir: string;
beforeEach(() => {
  dataDir = temporaryDirectory();
});

describe('serve', () => {
  test('prints one line when it is ready, answers, and stops on SIGTERM', async () => {
    const flags = { 'default-product': 'served' };
    const server = await startServerProcess({ dataDir, program, flags });
    expect(server.ready).toEqual({
      event: 'ready',
      api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/license\/api\/svc\/$/u) as unknown,
      admin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?code=\S+$/u) as unknown,
      pid: expect.any(Number) as unknown,
    });
    expect(await server.get('/health/')).toMatchObject({ status: 200, body: { ok: true, status: 'ok' } });
    expect(await cliOn(dataDir).ok('license', 'create', '--holder', 'Acme')).toMatchObject({
      license: { product: 'served' },
    });
    const { code, stdout } = await server.kill();
    expect({ code, stdout }).toEqual({ code: 0, stdout: `${JSON.stringify(server.ready)}\n` });
  });

  test('leaves its work for commands on the database, and theirs to the next server', async () => {
    const cli = cliOn(dataDir);
    const first = await startServerProcess({ dataDir, program });
    await cli.ok('license', 'create', '--holder', 'Through the server');
    await first.kill();
    await cli.ok('license', 'create', '--holder', 'On the database');
    await startServerProcess({ dataDir, program });
    expect(await cli.ok('license', 'list')).toMatchObject({
      items: [{ holder: 'On the database' }, { holder: 'Through the server' }],
    });
  });

  test.each([
    ['a port', '--port', '70000', '70000', 'between 0 and 65535'],
    ['a product', '--default-product', 'A B', '"A B"', '1 to 64 lowercase letters, digits or hyphens'],
  ])('refuses %s that is not allowed, in one line', async (_what, flag, value, shown, allowed) => {
    const failure = await spawnedCliOn(dataDir).refuses('serve', flag, value);
    expect(failure).toMatchObject({
      error_code: 'invalid_request',
      message: `${flag} must be ${allowed} (got ${shown})`,
    });
  });
});

describe('doctor', () => {
  interface Check {
    check: string;
    ok: boolean;
    detail: string;
  }

  async function failedChecks(folder: string, env: Record<string, string> = {}): Promise<Check[]> {
    const failure = await cliOn(folder, { env }).fails('doctor');
    expect(failure.error_code).toBe('unavailable');
    const { checks } = failure as unknown as { checks: Check[] };
    const failed = checks.filter(({ ok }) => !ok);
    expect(failure.message).toBe(
      `${failed.length} of ${checks.length} checks failed: ${failed.map(({ check }) => check).join(', ')}`,
    );
    return failed;
  }

  test('finds a missing data directory, and does not make it', async () => {
    const missing = join(dataDir, 'missing');
    expect(await failedChecks(missing)).toMatchObject([{ check: 'data_directory' }]);
    expect(await failedChecks(missing)).toMatchObject([{ check: 'data_directory' }]);
  });

  test('finds a wrong setting', async () => {
    expect(await failedChecks(dataDir, { LICENSE_DESK_TLS: 'perhaps' })).toMatchObject([{ check: 'config' }]);
    writeFileSync(join(dataDir, 'config.json'), '{"colour":"red"}');
    expect(await failedChecks(dataDir)).toMatchObject([{ check: 'config' }]);
  });

  test('finds a data directory that everybody may write', async () => {
    const open = join(dataDir, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(await failedChecks(open)).toMatchObject([{ check: 'permissions' }]);
  });

  test('finds a damaged database and a lost master key', async () => {
    await cliOn(dataDir).ok('public-key');
    writeFileSync(join(dataDir, 'master.key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    expect(await failedChecks(dataDir)).toMatchObject([{ check: 'keys' }]);
    writeFileSync(join(dataDir, 'license-desk.db'), 'not a database at all');
    expect(await failedChecks(dataDir)).not.toEqual([]);
  });

  test('finds files for TLS that do not belong together', async () => {
    const [first, second] = [makePemFiles(dataDir, 'first'), makePemFiles(dataDir, 'second')];
    const LICENSE_DESK_TLS = `${first.certificate},${second.key}`;
    const detail = expect.stringContaining('does not belong to the certificate') as unknown;
    expect(await failedChecks(dataDir, { LICENSE_DESK_TLS })).toEqual([{ check: 'tls', ok: false, detail }]);
  });

  test('says how long the certificate for TLS holds, on file and in use', async () => {
    const { certificate, key } = makePemFiles(dataDir, 'desk');
    const look = async (tls: string) => {
      const { checks } = await cliOn(dataDir, { env: { LICENSE_DESK_TLS: tls } }).ok<{ checks: Check[] }>(
        'doctor',
      );
      const about = checks.filter(({ check }) => check.startsWith('tls'));
      return about.map(({ check, detail }) => `${check}: ${detail}`);
    };
    expect(await look('off')).toEqual([]);
    expect(await look(`${certificate},${key}`)).toEqual([
      expect.stringMatching(/^tls: warning: CN=desk expires in 1 day, on \S+Z$/u),
    ]);
    expect(await look('auto')).toEqual(['tls: no certificate yet; the next start issues one']);
    const server = await startServerProcess({ dataDir, program, flags: { tls: 'auto' } });
    const inUse: unknown = expect.stringMatching(/^tls_in_use: CN=\S+ expires in 89 days, on \S+Z$/u);
    expect(await look('off')).toEqual([inUse]);
    expect(await look('auto')).toEqual([
      inUse,
      expect.stringMatching(/^tls: CN=\S+ expires in 89 days, on \S+Z$/u),
    ]);
    await server.kill();
    writeFileSync(join(dataDir, 'tls', 'server.json'), '{}');
    expect(await look('auto')).toEqual([
      expect.stringMatching(/^tls: warning: .+ is damaged; the next start/u),
    ]);
  });

  test('prints the same as text, and the failure on stderr', async () => {
    const missing = join(dataDir, 'missing');
    const { stdout, stderr, exitCode } = await runCli(['doctor', '--data-dir', missing]);
    expect(stdout).toMatch(/^data_directory +FAILED +\S+ does not exist/mu);
    expect(stderr).toMatch(/^error: 1 of \d+ checks failed: data_directory\n$/u);
    expect(exitCode).toBe(1);
  });
});
