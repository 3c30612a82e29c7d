// A server that ends in a way that Electron handles differently from Node.
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { freePort } from '../helpers/free-ports.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { announcing, quit, serverModule, startingShells, viewOf } from './starting-shells.ts';

const start = startingShells();

test('an unhandled rejection ends the server, and it is started again', async () => {
  const shell = start({ env: serverModule('rejecting-server') });
  await shell.event('forked', 2);
  expect(shell.stderr()).toContain('a promise that nobody waits for');
});

test('a server out of memory is started again without a dialog', async () => {
  const shell = start({ env: serverModule('exhausted-server') });
  await shell.event('forked', 3);
  expect(shell.count('error-box')).toBe(0);
});

test("the window shows the server's last output, even if it arrives late", async () => {
  const shell = start({ env: serverModule('dying-server') });
  await shell.event('window');
  expect(await viewOf(shell)).toMatchObject({ reason: 'error: out of paper' });
});

test('a shell that cannot start reports that and exits', async () => {
  const shell = start({ env: { ...announcing, STAND_IN_TRAY: 'refused' } });
  expect((await shell.event('error-box')).content).toContain('Could not create the tray icon');
  expect(await shell.exited).toBe(1);
});

test('a data directory that is emptied while its server runs gets no new key and no new database', async () => {
  const shell = start();
  await shell.event('shown');
  const { pid, key } = await shell.event('forked');
  const disk = temporaryDirectory('license-desk-disk');
  cpSync(shell.dataDir, disk, { recursive: true });
  // As when its disk is unmounted.
  const empty = () => {
    for (const name of readdirSync(shell.dataDir)) rmSync(join(shell.dataDir, name), { recursive: true });
  };
  empty();
  process.kill(pid, 'SIGKILL');
  await shell.eventThat('load', ({ id }) => id === 2);
  expect(await viewOf(shell, 2)).toMatchObject({
    title: 'Cannot use the data directory',
    reason: expect.stringContaining(`${shell.dataDir} has lost its master key and its database.`),
  });
  expect(readdirSync(shell.dataDir).filter((name) => name.startsWith('master'))).toEqual([]);
  cpSync(disk, shell.dataDir, { recursive: true });
  await shell.answerShell(2, { kind: 'action', action: 'try_again' });
  expect((await shell.event('forked', 2)).key).toBe(key);
});

test('the app starts where it cannot note that it runs, as on a full disk', async () => {
  const appData = temporaryDirectory('license-desk-app-data');
  mkdirSync(join(appData, 'License Desk'));
  writeFileSync(join(appData, 'License Desk', 'running'), 'not a directory');
  const shell = start({ env: { ...announcing, STAND_IN_APP_DATA: appData } });
  await shell.event('shown');
  expect(await quit(shell)).toBe(0);
});

test.each(['shown at once', 'hidden until the user asks'])('a slow start is reported, %s', async (when) => {
  const isHidden = when !== 'shown at once';
  const env = { ...serverModule('late-server'), STAND_IN_LONGEST_TIMER: '50' };
  const shell = start({ env, args: isHidden ? ['--hidden'] : [] });
  await shell.event('forked');
  if (isHidden) {
    expect(shell.count('window')).toBe(0);
    await shell.happen({ do: 'second-instance', argv: [] });
  }
  expect(await viewOf(shell)).toMatchObject({ kind: 'waiting', title: 'The server is still starting' });
  await expect.poll(shell.stderr).toContain('upgrading the database');
  await shell.answerShell(1, { kind: 'action', action: 'show_logs' });
  expect((await shell.event('opened')).what).toBe(join(shell.dataDir, 'logs'));
  expect(await viewOf(shell)).toMatchObject({ log: 'upgrading the database' });

  // The server is ready.
  await shell.happen({ do: 'resume' });
  await shell.eventThat('closed', ({ id }) => id === 1);
  expect((await shell.eventThat('load', ({ id }) => id === 2)).url).toContain('code=1');
});

test('a slow start can be ended', async () => {
  const shell = start({ env: { ...serverModule('late-server'), STAND_IN_LONGEST_TIMER: '50' } });
  await viewOf(shell);
  await shell.answerShell(1, { kind: 'action', action: 'quit' }).catch(() => {});
  expect(await shell.exited).toBe(0);
});

test('a choice that cannot be stored is reported, and the window asks again', async () => {
  const dataDir = temporaryDirectory('license-desk-choice');
  mkdirSync(join(dataDir, 'window'), { mode: 0o700 });
  writeFileSync(join(dataDir, 'window', 'server-home.json'), '{"home":"service"}');
  const shell = start({ dataDir, env: { STAND_IN_LONGEST_TIMER: '500' } });
  expect((await viewOf(shell))['title']).toBe('The service is not running');
  rmSync(join(dataDir, 'window', 'server-home.json'));
  mkdirSync(join(dataDir, 'window', 'server-home.json', 'in the way'), { recursive: true });
  await shell.answerShell(1, { kind: 'action', action: 'run_in_app' });
  expect((await shell.event('error-box')).title).toBe('Cannot use the data directory');
  await shell.answerShell(1, { kind: 'action', action: 'quit' });
  expect(await shell.exited).toBe(0);
});

interface PortView {
  reason: string;
  port: { holder: string; value: number } | null;
  actions: { name: string }[];
}

async function listenAnywhere() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, port: (server.address() as AddressInfo).port };
}

test.each(['linux', 'darwin'])(
  'a taken port is resolved in the window, which names the program on %s',
  async (platform) => {
    const { server, port } = await listenAnywhere();
    try {
      const shell = start({ env: { STAND_IN_PLATFORM: platform }, args: [`--admin-port=${port}`] });
      const view = (await viewOf(shell)) as unknown as PortView;
      expect(view.port?.value).toBe(port);
      expect(view.port?.holder).toContain(String(process.pid));
      expect(view.actions.map(({ name }) => name)).toContain('free_port');
      await shell.answerShell(1, { kind: 'action', action: 'free_port' });
      const { url } = await shell.eventThat('load', ({ id }) => id === 2);
      expect(new URL(url).port).not.toBe(String(port));
    } finally {
      server.close();
    }
  },
);

test('a port that the system denies is replaced in the window, too', async () => {
  const shell = start({ env: serverModule('denied-server') });
  const view = (await viewOf(shell)) as unknown as PortView & { advice: string };
  expect(view.port?.holder).toBe('The operating system does not let License Desk use port 80.');
  expect(view.advice).toMatch(/^Choose another port\. /u);
  expect(view.actions.map(({ name }) => name)).toContain('free_port');
});

test('another port is saved in config.json, unless the command line sets the port', async () => {
  const { server, port } = await listenAnywhere();
  const other = await freePort();
  const dataDir = temporaryDirectory('license-desk-port');
  writeFileSync(join(dataDir, 'config.json'), JSON.stringify({ port: 0, admin_port: port, rate_limit: 7 }));
  try {
    const kept = start({ hasFlags: false, dataDir, env: { LICENSE_DESK_DATA_DIR: dataDir } });
    await viewOf(kept);
    await kept.answerShell(1, { kind: 'port', port: '70000' });
    await kept.event('sent');
    expect(await viewOf(kept)).toMatchObject({ port: { problem: expect.stringContaining('65535') } });
    await kept.answerShell(1, { kind: 'port', port: String(other) });
    const { url } = await kept.eventThat('load', ({ id }) => id === 2);
    expect(new URL(url).port).toBe(String(other));
    const config: unknown = JSON.parse(readFileSync(join(dataDir, 'config.json'), 'utf8'));
    expect(config).toEqual({ port: 0, admin_port: other, rate_limit: 7 });
    expect(await quit(kept)).toBe(0);

    const given = start({ args: [`--admin-port=${port}`] });
    expect(await viewOf(given)).toMatchObject({ port: { note: expect.stringContaining('--admin-port') } });
    await given.answerShell(1, { kind: 'port', port: String(other) });
    expect(new URL((await given.eventThat('load', ({ id }) => id === 2)).url).port).toBe(String(other));
    expect(existsSync(join(given.dataDir, 'config.json'))).toBe(false);
  } finally {
    server.close();
  }
});
