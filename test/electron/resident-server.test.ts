// An app whose server runs as a service of the computer: it connects to that one and starts none itself.
import { chmodSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';
import { isAlive } from './shell.ts';
import { announcing, quit, startingShells, viewOf } from './starting-shells.ts';

const start = startingShells();
const standInCommands = join(import.meta.dirname, 'stand-in/commands');
const installed = { STAND_IN_PACKAGED: '1' };

/** Instead of after the time that a service may take to start. */
const soonGivingUp = { STAND_IN_LONGEST_TIMER: '100' };

/** As a window of an earlier start has left it. */
function chooseService(dataDir: string): string {
  mkdirSync(join(dataDir, 'window'), { recursive: true, mode: 0o700 });
  writeFileSync(join(dataDir, 'window', 'server-home.json'), '{"home":"service"}');
  return dataDir;
}

/** A server package on PATH, whose Node writes down what it is asked to run. */
function serverPackage(script: string): { env: Record<string, string>; calls: string } {
  const folder = temporaryDirectory();
  const calls = join(folder, 'calls');
  mkdirSync(join(folder, 'out/main'), { recursive: true });
  writeFileSync(join(folder, 'out/main/cli.js'), '');
  writeFileSync(join(folder, 'node'), `#!/bin/sh\nshift\necho "$@" >> ${calls}\n${script}\n`);
  writeFileSync(join(folder, 'license-desk'), '#!/bin/sh\n');
  for (const file of ['node', 'license-desk']) chmodSync(join(folder, file), 0o755);
  const bin = temporaryDirectory();
  symlinkSync(join(folder, 'license-desk'), join(bin, 'license-desk'));
  return { env: { PATH: [bin, standInCommands, process.env['PATH']].join(delimiter) }, calls };
}

test('connects to the service, follows it through a restart, and leaves it running', async () => {
  const dataDir = chooseService(temporaryDirectory());
  const service = await startServerProcess({ dataDir });
  const shell = start({ dataDir });
  const { url } = await shell.event('load');
  expect(new URL(url).origin).toBe(service.adminOrigin);
  await shell.event('tray', 2);
  expect(shell.count('forked')).toBe(0);

  await service.kill('SIGKILL');
  const again = await startServerProcess({ dataDir });
  await shell.eventThat('load', (event) => new URL(event.url).origin === again.adminOrigin);

  expect(await quit(shell)).toBe(0);
  expect(isAlive(again.pid)).toBe(true);
  // The key is the service's to read.
  expect(existsSync(join(dataDir, 'master.key'))).toBe(true);
  await again.kill();
});

test('reports a stopped service, and can run the server itself instead', async () => {
  const dataDir = chooseService(temporaryDirectory());
  const shell = start({ dataDir, env: soonGivingUp });
  expect(await viewOf(shell)).toMatchObject({
    title: 'The service is not running',
    reason: `No server that you can use is running on ${dataDir}.`,
  });
  expect(shell.count('forked')).toBe(0);
  await shell.answerShell(1, { kind: 'action', action: 'run_in_app' });
  await shell.event('forked');
  await shell.eventThat('load', ({ url }) => url.startsWith('http:'));
  expect(readFileSync(join(dataDir, 'window', 'server-home.json'), 'utf8')).toContain('"app"');
});

test('connects to a service that starts later, and closes the window that reports it as stopped', async () => {
  const dataDir = chooseService(temporaryDirectory());
  const shell = start({ dataDir, env: soonGivingUp });
  expect(await viewOf(shell)).toMatchObject({ title: 'The service is not running' });
  const service = await startServerProcess({ dataDir });
  await shell.eventThat('load', ({ url }) => url.startsWith(service.adminOrigin));
  await shell.eventThat('closed', ({ id }) => id === 1);
  expect(await quit(shell)).toBe(0);
  await service.kill();
});

test('offers to connect to a server that already uses the data directory', async () => {
  const dataDir = temporaryDirectory();
  const service = await startServerProcess({ dataDir });
  const shell = start({ dataDir });
  const view = await viewOf(shell);
  expect(view['title']).toBe('Cannot use the data directory');
  expect(view['actions']).toContainEqual({ name: 'use_service', label: 'Connect to That Server' });
  await shell.answerShell(1, { kind: 'action', action: 'use_service' });
  await shell.eventThat('load', ({ url }) => url.startsWith(service.adminOrigin));
  await service.kill();
});

describe('the first start of an installed app', () => {
  const choice = (home: 'app' | 'service') => ({ kind: 'home', home }) as const;

  test('asks where the server runs, and remembers the answer', async () => {
    const dataDir = temporaryDirectory();
    const first = start({ dataDir, env: { ...announcing, ...installed } });
    expect(await viewOf(first)).toMatchObject({
      kind: 'choice',
      title: 'Where should the server run?',
      options: [{ home: 'app' }, { home: 'service' }],
      note: expect.stringContaining(`--data-dir "${dataDir}"`),
    });
    expect(first.count('forked')).toBe(0);
    await first.answerShell(1, choice('app'));
    await first.event('forked');
    expect(await quit(first)).toBe(0);
    const second = start({ dataDir, env: { ...announcing, ...installed } });
    await second.event('forked');
  });

  test('installs the service with the server package, and shows why that failed', async () => {
    const dataDir = temporaryDirectory();
    const failing = serverPackage('echo "error: no systemd here" >&2; exit 1');
    const shell = start({ dataDir, env: { ...installed, ...failing.env } });
    expect(await viewOf(shell)).toMatchObject({ kind: 'choice', note: '', problem: '' });
    await shell.answerShell(1, choice('service'));
    await expect.poll(() => viewOf(shell)).toMatchObject({ problem: 'no systemd here' });
    expect(readFileSync(failing.calls, 'utf8')).toBe(`service install --user --data-dir ${dataDir}\n`);
    await shell.answerShell(1, choice('app'));
    await shell.event('forked');
  });

  test('connects to the service that was installed', async () => {
    const dataDir = temporaryDirectory();
    const { env } = serverPackage('exit 0');
    const shell = start({ dataDir, env: { ...installed, ...env } });
    await viewOf(shell);
    const service = await startServerProcess({ dataDir });
    await shell.answerShell(1, choice('service'));
    await shell.eventThat('load', ({ url }) => url.startsWith(service.adminOrigin));
    expect(shell.count('forked')).toBe(0);
    await service.kill();
  });

  test('waits for the service that was installed to start', async () => {
    const dataDir = temporaryDirectory();
    const { env } = serverPackage('exit 0');
    const shell = start({ dataDir, env: { ...installed, ...env } });
    await viewOf(shell);
    await shell.answerShell(1, choice('service'));
    await shell.event('closed');
    const service = await startServerProcess({ dataDir });
    await shell.eventThat('load', ({ url }) => url.startsWith(service.adminOrigin));
    await service.kill();
  });

  test('asks for a passphrase next, where no keychain runs', async () => {
    const dataDir = temporaryDirectory();
    const env = { ...announcing, ...installed, STAND_IN_KEYCHAIN: 'no-keyring' };
    const shell = start({ dataDir, env });
    await viewOf(shell);
    await shell.answerShell(1, choice('app'));
    expect(await viewOf(shell, 2)).toMatchObject({ kind: 'passphrase' });
    const passphrase = 'correct horse battery';
    await shell.answerShell(2, { kind: 'passphrase', passphrase, again: passphrase });
    await shell.event('forked');
  });

  test('asks nothing at login, and quits if the question is not answered', async () => {
    const env = { ...announcing, ...installed };
    const hidden = start({ env, args: ['--hidden'], dataDir: temporaryDirectory() });
    await hidden.event('forked');
    const shell = start({ env, dataDir: temporaryDirectory() });
    await viewOf(shell);
    await shell.happen({ do: 'close-window' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(shell.count('forked')).toBe(0);
  });
});
