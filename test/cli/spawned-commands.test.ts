// Each command once in a separate process: the built file, its streams, its exit code, and what signals do to it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { lockDirectory } from '#server/database/directory-lock.ts';
import { writeRuntimeFile } from '#server/installation/runtime-file.ts';
import { asCommand } from '../helpers/as-command.ts';
import { CLI_PROGRAM, documentOf, runCli, spawnCli, spawnedCliOn } from '../helpers/cli.ts';
import { eventually } from '../helpers/eventually.ts';
import { startServerProcess, temporaryDirectory, type ServerProcess } from '../helpers/server-process.ts';

const FINGERPRINT = `sha256:${'c3'.repeat(32)}`;

const folder = temporaryDirectory('files');
const requestFile = join(folder, 'device.request');
const licenseFile = join(folder, 'device.lic');
const keysFile = join(folder, 'keys.json');
const backup = join(folder, 'desk.ldbackup');
const passphraseFile = join(folder, 'passphrase');
writeFileSync(passphraseFile, 'correct horse battery\n');
const WITH_PASSPHRASE = ['--passphrase-file', passphraseFile];

let server: ServerProcess;
let licenseKey: string;
let apiToken: number;

beforeAll(async () => {
  const dataDir = temporaryDirectory();
  server = await startServerProcess({ dataDir });
  const { license } = await asCommand(dataDir, (admin) => admin.createLicense({ holder: 'Acme' }));
  licenseKey = license.license_key;
  const { token } = await asCommand(dataDir, (admin) => admin.createApiToken({ name: 'CI', role: 'admin' }));
  apiToken = token.id;
});

/** In this order: later ones read what earlier ones wrote. */
const COMMANDS: readonly [name: string, words: () => readonly string[]][] = [
  ['service', () => ['install', '--dry-run']],
  ['open', () => []],
  ['server', () => ['info']],
  ['session', () => ['list']],
  ['doctor', () => []],
  ['stats', () => []],
  ['audit', () => ['list']],
  ['settings', () => ['list']],
  ['retention', () => []],
  ['backup', () => ['--out', backup, ...WITH_PASSPHRASE]],
  ['restore', () => [backup, ...WITH_PASSPHRASE, '--yes']],
  ['license', () => ['show', licenseKey]],
  ['license', () => ['edit', licenseKey, '--order-number', 'SO-1', '--notes', 'Second line']],
  ['lease', () => ['list']],
  ['lease-rule', () => ['list', '--license', licenseKey]],
  ['lease-group', () => ['list']],
  ['plan', () => ['list']],
  ['token', () => ['list']],
  ['api-token', () => ['list']],
  ['api-token', () => ['rotate', String(apiToken), '--overlap-hours', '1']],
  ['public-key', () => []],
  ['signing-key', () => ['list']],
  ['cert', () => ['list']],
  ['webhook', () => ['list']],
  ['events', () => ['list']],
  ['fingerprint', () => ['--seed', 'a test machine']],
  ['request', () => ['--license-key', licenseKey, '--fingerprint', FINGERPRINT, '--out', requestFile]],
  ['activate-offline', () => ['--request', requestFile, '--out', licenseFile]],
  ['verify', () => [licenseFile, '--public-key', keysFile, '--fingerprint', FINGERPRINT]],
  ['completion', () => ['bash']],
  ['manual', () => []],
];

test.each(COMMANDS)(
  '%s prints one JSON document, nothing on stderr, and exits with 0',
  async (name, words) => {
    const run = async () => {
      // The server has its own data directory open.
      const directory = name === 'restore' ? temporaryDirectory() : server.dataDir;
      const result = await spawnCli([name, '--data-dir', directory, '--json', ...words()]);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      return documentOf(result);
    };
    // The server is not ready while a write takes more than 2 s.
    const document = name === 'doctor' ? await eventually(run) : await run();
    expect(document['ok']).toBe(true);
    if (name === 'public-key') writeFileSync(keysFile, JSON.stringify({ ...document, ok: undefined }));
  },
);

test('every command is in the list', async () => {
  const { stdout } = await runCli(['--help']);
  const commands = [...stdout.matchAll(/^ {2}([a-z][a-z-]*) /gmu)].map(([, name]) => name);
  expect([...new Set(COMMANDS.map(([name]) => name))].toSorted()).toEqual(
    // `serve` is the server of this file; `move-database` needs PostgreSQL and has its own tests.
    commands.filter((name) => !['serve', 'help', 'move-database'].includes(name ?? '')).toSorted(),
  );
});

test('a backup is encrypted as docs/guide/backup.md says: scrypt with N = 2^17, r = 8 and p = 1', async () => {
  const out = join(folder, 'own-parameters.ldbackup');
  const words = ['backup', '--out', out, ...WITH_PASSPHRASE, '--data-dir', server.dataDir];
  expect(await spawnCli(words)).toMatchObject({ exitCode: 0 });
  expect([...readFileSync(out).subarray(19, 24)]).toEqual([1, 17, 8, 1, 0]);
});

describe('a failure', () => {
  test('of the command exits with 1, with one line on stderr and nothing on stdout', async () => {
    expect(await spawnCli(['license', 'show', '999999', '--data-dir', server.dataDir])).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: expect.stringMatching(/^error: [^\n]+\n$/u) as string,
    });
  });

  test('of its usage exits with 2, the same way', async () => {
    const { stdout, stderr, exitCode } = await spawnCli(['license', 'create']);
    expect({ stdout, stderr, exitCode }).toEqual({
      stdout: '',
      stderr: 'error: --holder <name> is required\n',
      exitCode: 2,
    });
  });

  test('with --json is a document on stdout as well', async () => {
    const failure = await spawnedCliOn(server.dataDir).fails('license', 'show', '999999');
    expect(failure.error_code).toBe('license_not_found');
  });
});

describe('a command that reads from stdin', () => {
  const words = ['verify', '-', '--public-key', keysFile];

  test('takes what is piped into it', async () => {
    const { stdout, exitCode } = await spawnCli(words, { input: 'no license file' });
    expect({ stdout, exitCode }).toEqual({ stdout: '', exitCode: 3 });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('is ended by %s', async (signal) => {
    const child = spawn(process.execPath, [CLI_PROGRAM, ...words], {
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    const exit = once(child, 'exit');
    child.kill(signal);
    expect(await exit).toEqual([null, signal]);
  });
});

describe('a command that writes a new file', () => {
  /** A data directory whose server begins every download, and ends none. */
  async function unfinishedDownloads(): Promise<string> {
    const dataDir = temporaryDirectory();
    const lock = await lockDirectory(dataDir);
    const stalling = createServer((request, response) => {
      if (request.url?.includes('/server-info/')) response.end('{"ok":true}');
      else response.write('the first half');
    });
    await new Promise<void>((resolve) => {
      stalling.listen(0, '127.0.0.1', resolve);
    });
    onTestFinished(async () => {
      stalling.close();
      stalling.closeAllConnections();
      await lock?.release();
    });
    const admin = `http://127.0.0.1:${(stalling.address() as AddressInfo).port}`;
    writeRuntimeFile(dataDir, { pid: process.pid, version: '0.1.0', api: admin, admin, secret: 'secret' });
    return dataDir;
  }

  test.each([
    ['backup', 'SIGINT'],
    ['license export', 'SIGTERM'],
    ['audit export', 'SIGHUP'],
  ] as const)('%s leaves no part of it after %s', async (command, signal) => {
    const out = join(folder, `${command.replace(' ', '-')}.part`);
    const words = [...command.split(' '), '--out', out, '--data-dir', await unfinishedDownloads()];
    const child = spawn(process.execPath, [CLI_PROGRAM, ...words], { stdio: 'ignore' });
    onTestFinished(() => void child.kill('SIGKILL'));
    const exit = once(child, 'exit');
    await eventually(() => expect(statSync(out).size).toBeGreaterThan(0));
    child.kill(signal);
    expect(await exit).toEqual([null, signal]);
    expect(existsSync(out)).toBe(false);
  });

  /** A signal ends it while it flushes what it has written. */
  async function endWhileFlushing(...words: string[]): Promise<void> {
    const options = ['--import', join(import.meta.dirname, '../helpers/signal-at-sync.ts')];
    const child = spawn(process.execPath, [...options, CLI_PROGRAM, ...words, '--data-dir', server.dataDir], {
      stdio: 'ignore',
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    expect(await once(child, 'exit')).toEqual([null, 'SIGTERM']);
  }

  test('keeps a secret that is written, because it cannot be had again', async () => {
    const out = join(folder, 'device.pem');
    await endWhileFlushing('cert', 'issue', '--license', licenseKey, '--common-name', 'Device', '--out', out);
    expect(readFileSync(out, 'utf8')).toContain('PRIVATE KEY');
  });

  test('keeps no backup that was not verified', async () => {
    const out = join(folder, 'unverified.ldbackup');
    await endWhileFlushing('backup', '--out', out);
    expect(existsSync(out)).toBe(false);
  });
});

test('a reader that has seen enough does not make a command fail', async () => {
  const child = spawn(process.execPath, [CLI_PROGRAM, 'plan', 'list', '--data-dir', server.dataDir], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  child.stdout.destroy();
  const exit = once(child, 'exit');
  let stderr = '';
  for await (const part of child.stderr.setEncoding('utf8')) stderr += part as string;
  expect({ stderr, exit: await exit }).toEqual({ stderr: '', exit: [0, null] });
});
