// Output that cannot be written, as on a full disk: one line says so, and nothing else changes.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { asCommand } from '../helpers/as-command.ts';
import { CLI_PROGRAM, cliOn, spawnCli } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { startServerProcess, temporaryDirectory, type ServerProcess } from '../helpers/server-process.ts';
import { within } from '../helpers/within.ts';

let server: ServerProcess;

beforeAll(async () => {
  server = await startServerProcess({ dataDir: temporaryDirectory() });
  await asCommand(server.dataDir, (admin) => admin.createLicense({ holder: 'Acme' }));
});

/** What a shell starts the command with. */
const redirected = (redirection: string) => ['sh', '-c', `exec "$@" ${redirection}`, 'sh'];

function run(redirection: string, ...words: string[]) {
  return spawnCli([...words, '--data-dir', server.dataDir], { prefix: redirected(redirection) });
}

const FULL = 'error: cannot write to stdout: the disk is full';
const DONE = '; the command itself succeeded';

describe.skipIf(!existsSync('/dev/full'))('a stdout that is full', () => {
  test.each([
    ['--version', FULL],
    ['--help', FULL],
    ['license --help', FULL],
    ['manual', FULL + DONE],
    ['license list', FULL + DONE],
    ['license list --json', FULL + DONE],
    ['license list --output license_key', FULL + DONE],
    ['license file 1 --out -', FULL + DONE],
    ['license export --out -', FULL],
    ['fingerprint --seed x', FULL + DONE],
  ])('ends %s with one line', async (words, message) => {
    const { exitCode, stderr } = await run('>/dev/full', ...words.split(' '));
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `${message}\n` });
  });

  test('does not hide that the change was made', async () => {
    const words = ['api-token', 'create', '--name', 'lost', '--role', 'admin', '--output', 'api_token'];
    const { exitCode, stderr } = await run('>/dev/full', ...words);
    expect({ exitCode, stderr }).toEqual({ exitCode: 1, stderr: `${FULL}${DONE}\n` });
    const { items } = await cliOn(server.dataDir).ok<{ items: { name: string }[] }>('api-token', 'list');
    expect(items.map(({ name }) => name)).toContain('lost');
  });

  test('leaves the exit code of a failure', async () => {
    for (const [words, code] of [
      [['license', 'show', '999999'], 1],
      [['license', 'create'], 2],
      [['verify', '-', '--public-key', 'x'.repeat(44)], 1],
    ] as const) {
      const { exitCode, stderr } = await run('>/dev/full', ...words, '--json');
      expect(exitCode).toBe(code);
      expect(stderr).toMatch(/^error: (?!cannot write to stdout)[^\n]+\n$/u);
    }
  });

  test('does not keep a server from serving, nor from an orderly stop', async () => {
    const dataDir = temporaryDirectory();
    const [command = '', ...rest] = [...redirected('>/dev/full'), process.execPath, CLI_PROGRAM, 'serve'];
    const words = ['--data-dir', dataDir, '--port', '0', '--admin-port', '0'];
    const child = spawn(command, [...rest, ...words], { stdio: ['ignore', 'ignore', 'pipe'] });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    const stderr = text(child.stderr);
    const ended = exit.then(async () => {
      throw new Error(await stderr);
    });
    const { api } = await Promise.race([
      ended,
      eventually(() => {
        const file = readFileSync(join(dataDir, 'runtime.json'), 'utf8');
        return JSON.parse(file) as { api: string };
      }),
    ]);
    expect((await fetch(`${api.replace(/\/$/u, '')}/health/`)).status).toBe(200);
    child.kill('SIGTERM');
    expect(await within('the end of the server', exit)).toEqual([0, null]);
    expect(await stderr).not.toContain('ENOSPC');
    await expect(ended).rejects.toThrow();
  });
});

describe.skipIf(process.platform !== 'linux')('a disk that takes only a part of the output', () => {
  test('makes the command fail', async () => {
    const file = join(temporaryDirectory(), 'manual');
    const prefix = ['prlimit', '--fsize=1000', ...redirected(`>${file}`)];
    const { exitCode, stderr } = await spawnCli(['manual'], { prefix });
    expect(stderr).toBe(`error: cannot write to stdout: the file would be larger than the limit${DONE}\n`);
    expect(exitCode).toBe(1);
  });

  test('gets no failure document after the part', async () => {
    const file = join(temporaryDirectory(), 'document');
    const prefix = ['prlimit', '--fsize=1000', ...redirected(`>${file}`)];
    const { exitCode } = await spawnCli(['manual', '--json'], { prefix });
    expect(exitCode).toBe(1);
    expect(readFileSync(file, 'utf8')).toMatch(/^\{"ok":true,[^\n]+$/u);
  });
});

describe.skipIf(!existsSync('/dev/full'))('a stderr that is full', () => {
  test.each([
    ['plan list', 0],
    ['license show 999999', 1],
    ['license create', 2],
    ['license list --output nonesuch', 2],
  ])('leaves the exit code of %s', async (words, code) => {
    const { exitCode } = await run('2>/dev/full', ...words.split(' '));
    expect(exitCode).toBe(code);
  });
});
