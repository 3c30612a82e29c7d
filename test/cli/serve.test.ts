import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { cliOn, runCli, startServe, temporaryFolder } from '../helpers/cli.ts';

let folder: ReturnType<typeof temporaryFolder>;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

describe('serve', () => {
  test('prints one line when it is ready, answers, and stops on SIGTERM', async () => {
    const server = await startServe(folder.path, ['--default-product', 'served']);
    expect(server.ready).toEqual({
      event: 'ready',
      api: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/license\/api\/svc\/$/u) as unknown,
      admin: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/\?code=\S+$/u) as unknown,
      pid: expect.any(Number) as unknown,
    });
    const health = await fetch(`${server.ready.api}health/`, { headers: { connection: 'close' } });
    expect(await health.json()).toMatchObject({ ok: true, status: 'ok' });
    expect(await cliOn(folder.path).ok('license', 'create', '--holder', 'Acme')).toMatchObject({
      license: { product: 'served' },
    });
    const { exitCode, stdout } = await server.stop();
    expect(exitCode).toBe(0);
    expect(stdout).toBe(`${JSON.stringify(server.ready)}\n`);
  });

  test('leaves its work for commands on the database, and theirs to the next server', async () => {
    const cli = cliOn(folder.path);
    const first = await startServe(folder.path);
    await cli.ok('license', 'create', '--holder', 'Through the server');
    await first.stop();
    await cli.ok('license', 'create', '--holder', 'On the database');
    const second = await startServe(folder.path);
    expect(await cli.ok('license', 'list')).toMatchObject({
      items: [{ holder: 'On the database' }, { holder: 'Through the server' }],
    });
    await second.stop();
  });

  test.each([
    ['a port', ['--port', '70000'], '--port is "70000", but must be 0 to 65535'],
    [
      'a product',
      ['--default-product', 'A B'],
      '--default-product is "A B", but must be 1 to 64 of a-z, 0-9 and -',
    ],
  ])('refuses %s that is not allowed, in one line', async (_what, words, message) => {
    const result = await runCli(['serve', '--data-dir', folder.path, ...words]);
    expect(result).toEqual({ stdout: '', stderr: `error: ${message}\n`, exitCode: 1 });
    const failure = await cliOn(folder.path).fails('serve', ...words);
    expect(failure).toMatchObject({ error_code: 'invalid_request', message });
  });
});

describe('doctor', () => {
  interface Check {
    check: string;
    ok: boolean;
    detail: string;
  }

  async function failedChecks(dataDir: string, env: Record<string, string> = {}): Promise<Check[]> {
    const failure = await cliOn(dataDir, { env }).fails('doctor');
    expect(failure.error_code).toBe('unavailable');
    const { checks } = failure as unknown as { checks: Check[] };
    const failed = checks.filter(({ ok }) => !ok);
    expect(failure.message).toBe(
      `${failed.length} of ${checks.length} checks failed: ${failed.map(({ check }) => check).join(', ')}`,
    );
    return failed;
  }

  test('finds a missing data directory, and does not make it', async () => {
    const missing = join(folder.path, 'missing');
    expect(await failedChecks(missing)).toMatchObject([{ check: 'data_directory' }]);
    expect(await failedChecks(missing)).toMatchObject([{ check: 'data_directory' }]);
  });

  test('finds a wrong setting', async () => {
    expect(await failedChecks(folder.path, { LICENSE_DESK_TLS: 'perhaps' })).toMatchObject([
      { check: 'config' },
    ]);
    writeFileSync(join(folder.path, 'config.json'), '{"colour":"red"}');
    expect(await failedChecks(folder.path)).toMatchObject([{ check: 'config' }]);
  });

  test('finds a data directory that everybody may write', async () => {
    const open = join(folder.path, 'open');
    mkdirSync(open);
    chmodSync(open, 0o777);
    expect(await failedChecks(open)).toMatchObject([{ check: 'data_directory' }]);
  });

  test('finds a damaged database and a lost master key', async () => {
    await cliOn(folder.path).ok('public-key');
    writeFileSync(join(folder.path, 'master.key'), `${Buffer.alloc(32, 1).toString('base64')}\n`);
    expect(await failedChecks(folder.path)).toMatchObject([{ check: 'keys' }]);
    writeFileSync(join(folder.path, 'license-desk.db'), 'not a database at all');
    expect(await failedChecks(folder.path)).not.toEqual([]);
  });

  test('prints the same as text, and the failure on stderr', async () => {
    const missing = join(folder.path, 'missing');
    const { stdout, stderr, exitCode } = await runCli(['doctor', '--data-dir', missing]);
    expect(stdout).toMatch(/^data_directory +FAILED +\S+ does not exist/mu);
    expect(stderr).toMatch(/^error: 1 of \d+ checks failed: data_directory\n$/u);
    expect(exitCode).toBe(1);
  });
});
