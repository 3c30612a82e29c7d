// New versions: what is asked, and what happens to the server while one is installed.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import type { Shell } from './shell.ts';
import { announcing, callBridge, quit, startingShells, viewOf } from './starting-shells.ts';

const start = startingShells();

/** A packaged app with the key of its publisher. */
const appPath = mkdtempSync(join(tmpdir(), 'license-desk-app-'));
writeFileSync(
  join(appPath, 'package.json'),
  JSON.stringify({ updatePublicKey: Buffer.alloc(32).toString('base64') }),
);
afterAll(() => rmSync(appPath, { recursive: true }));

const offering = {
  ...announcing,
  STAND_IN_PACKAGED: '1',
  STAND_IN_UPDATE: '2.0.0',
  STAND_IN_APP_PATH: appPath,
};

const startAfterUpdate = ({ appData }: Shell) => join(appData, 'License Desk', 'start-after-update.json');

/** Finds the update, downloads it, and has it installed. @param asked the number of questions so far */
async function install(shell: Shell, asked = 0): Promise<void> {
  await callBridge(shell, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
  await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
  for (const nth of [1, 2]) {
    await shell.event('message-box', asked + nth);
    await shell.happen({ do: 'press-button', button: 0 }).catch(() => {});
  }
}

test('an update is installed after the server has stopped, and the app starts again without a window', async () => {
  const first = start({ env: offering });
  await first.event('shown');
  await install(first);
  const installed = await first.eventThat('update', ({ step }) => step === 'install');
  expect(installed).toMatchObject({ silent: true, relaunch: true, serverRuns: false });
  expect(await first.exited).toBe(0);
});

describe.each(['linux', 'darwin', 'win32'])(
  'on %s, an update is not installed before the user agrees',
  (platform) => {
    test('to lose what the page has not saved', async () => {
      const shell = start({ env: { ...offering, STAND_IN_PLATFORM: platform } });
      await shell.event('shown');
      await shell.happen({ do: 'guard-page' });
      await install(shell);
      expect((await shell.event('message-box', 3)).buttons).toEqual(['Leave', 'Stay']);
      expect(shell.count('posted')).toBe(0);
      await shell.happen({ do: 'press-button', button: 1 });
      // The next start is not one after an update.
      await expect.poll(() => existsSync(startAfterUpdate(shell))).toBe(false);
      expect(shell.count('update')).toBe(1);
      await shell.happen({ do: 'close-window' });
      await shell.event('hidden');

      await install(shell, 3);
      await shell.event('message-box', 6);
      await shell.happen({ do: 'press-button', button: 0 }).catch(() => {});
      const installed = await shell.eventThat('update', ({ step }) => step === 'install');
      expect(installed).toMatchObject({ relaunch: true, serverRuns: false });
      expect(await shell.exited).toBe(0);
    });
  },
);

test('an update is not installed while the session ends', async () => {
  const shell = start({ env: offering });
  await shell.event('shown');
  await shell.happen({ do: 'guard-page' });
  await install(shell);
  await shell.event('message-box', 3);
  await shell.happen({ do: 'end-session' }).catch(() => {});
  expect(await shell.exited).toBe(0);
  expect(shell.count('update')).toBe(1);
});

describe('an update that is downloaded and left for later', () => {
  const later = async (env: Record<string, string>): Promise<Shell> => {
    const shell = start({ env: { ...offering, ...env } });
    await shell.event('shown');
    await callBridge(shell, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
    await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
    await shell.event('message-box');
    await shell.happen({ do: 'press-button', button: 0 });
    await shell.event('message-box', 2);
    await shell.happen({ do: 'press-button', button: 1 });
    return shell;
  };

  test('is installed when the user quits', async () => {
    const shell = await later({});
    expect(await quit(shell)).toBe(0);
    expect(await shell.event('update', 2)).toMatchObject({ step: 'install', serverRuns: false });
  });

  test.each(['linux', 'win32'])('is not installed while the session ends on %s', async (platform) => {
    const shell = await later({ STAND_IN_PLATFORM: platform });
    await shell.happen({ do: 'end-session' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(shell.count('update')).toBe(1);
  });

  test('is not installed when another installer ends the app', async () => {
    const shell = await later({ STAND_IN_PLATFORM: 'win32' });
    await shell.happen({ do: 'second-instance', argv: ['license-desk', '--quit'] }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(shell.count('update')).toBe(1);
  });
});

describe('on macOS, which closes the windows first', () => {
  const mac = { ...offering, STAND_IN_PLATFORM: 'darwin' };

  test('an update is installed with the window hidden', async () => {
    const shell = start({ env: mac });
    await shell.event('shown');
    await shell.happen({ do: 'close-window' });
    await shell.event('hidden');
    await install(shell);
    expect(await shell.event('update', 2)).toMatchObject({ step: 'install', serverRuns: false });
    expect(await shell.exited).toBe(0);
  });
});

describe('an update that is not installed leaves the server running', () => {
  test.each(['linux', 'darwin'])('on %s if the installer is refused', async (platform) => {
    const shell = start({ env: { ...offering, STAND_IN_INSTALL: 'refused', STAND_IN_PLATFORM: platform } });
    await shell.event('shown');
    await install(shell);
    await shell.event('forked', 2);
    expect(await shell.event('message-box', 3)).toMatchObject({
      message: 'Cannot install version 2.0.0',
      detail: 'the installer was refused',
    });
    // The next start is not one after an update.
    expect(existsSync(startAfterUpdate(shell))).toBe(false);
    // The window is open again, and the app still hides it when it is closed.
    await shell.event('shown', 2);
    await shell.happen({ do: 'close-window' });
    await shell.event('hidden');
  });

  test('if the next start cannot be prepared', async () => {
    const shell = start({ env: offering });
    await shell.event('shown');
    mkdirSync(join(startAfterUpdate(shell), 'in the way'), { recursive: true });
    await install(shell);
    expect(await shell.event('message-box', 3)).toMatchObject({ message: 'Cannot install version 2.0.0' });
    expect(shell.count('posted')).toBe(0);
  });
});

test('a download that breaks off is reported, also for a version that the daily check found', async () => {
  const first = start({ env: { ...offering, STAND_IN_DOWNLOAD: 'interrupted' } });
  await first.event('shown');
  await callBridge(first, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
  first.process.kill('SIGTERM');
  await first.exited;
  // The daily check is due soon.
  const env = { ...offering, STAND_IN_DOWNLOAD: 'interrupted', STAND_IN_LONGEST_TIMER: '2000' };
  const shell = start({ env, dataDir: first.dataDir });
  await shell.event('message-box');
  await shell.happen({ do: 'press-button', button: 0 });
  expect(await shell.event('message-box', 2)).toMatchObject({
    message: 'Cannot install version 2.0.0',
    detail: 'net::ERR_CONNECTION_RESET',
  });
});

test('an update starts the app again with the data directory it had, without a window', async () => {
  const first = start({ env: offering });
  await first.event('shown');
  const { appData } = first;
  await install(first);
  expect(await first.exited).toBe(0);

  const env = { ...offering, STAND_IN_APP_DATA: appData, HOME: appData };
  const next = start({ env, hasFlags: false });
  expect((await next.event('forked')).args).toContain(`--data-dir=${first.dataDir}`);
  await next.event('tray', 2);
  expect(next.count('window')).toBe(0);
});

test('an update remembers the whole path of the data directory: the installer starts the app in another folder', async () => {
  const dataDir = join(appPath, 'desk');
  // At login, no question is asked.
  const shell = start({ env: offering, dataDir: relative(process.cwd(), dataDir), args: ['--hidden'] });
  await shell.event('tray', 2);
  await shell.happen({ do: 'click-tray', id: 'open' });
  await shell.event('shown');
  await install(shell);
  expect(await shell.exited).toBe(0);
  const remembered = readFileSync(join(shell.appData, 'License Desk', 'start-after-update.json'), 'utf8');
  expect(remembered).toContain(`--data-dir=${dataDir}"`);
});

describe('after an update, Try Again with a locked keychain keeps the data directory', () => {
  /** With what it remembered for the start after the update. */
  function lockedAfterUpdate(env: Record<string, string>) {
    const appData = mkdtempSync(join(appPath, 'data-'));
    const lock = join(appData, 'keychain-lock');
    writeFileSync(lock, '');
    const remembered = { args: [`--data-dir=${appData}`], at: Date.now() };
    mkdirSync(join(appData, 'License Desk'));
    writeFileSync(join(appData, 'License Desk', 'start-after-update.json'), JSON.stringify(remembered));
    const places = { HOME: appData, STAND_IN_APP_DATA: appData, STAND_IN_KEYCHAIN_LOCK: lock };
    return { appData, shell: start({ env: { ...announcing, ...places, ...env }, hasFlags: false }) };
  }

  test('in an installed app', async () => {
    const { appData, shell } = lockedAfterUpdate({});
    await viewOf(shell);
    await shell.answerShell(1, { kind: 'action', action: 'try_again' });
    expect((await shell.event('relaunch')).args).toContain(`--data-dir=${appData}`);
    expect(await shell.exited).toBe(0);
  });

  test('in an AppImage, whose mount is gone once it ends', async () => {
    const program = join(appPath, 'license-desk.AppImage');
    const said = join(appPath, 'said');
    writeFileSync(program, `#!/bin/sh\necho "$@" > '${said}.new' && mv '${said}.new' '${said}'\n`, {
      mode: 0o755,
    });
    const { appData, shell } = lockedAfterUpdate({ APPIMAGE: program });
    await viewOf(shell);
    await shell.answerShell(1, { kind: 'action', action: 'try_again' });
    expect(await shell.exited).toBe(0);
    expect(shell.count('relaunch')).toBe(0);
    await expect.poll(() => existsSync(said)).toBe(true);
    expect(readFileSync(said, 'utf8')).toContain(`--data-dir=${appData}`);
  });
});

test('a second question about updates does not open over the first', async () => {
  const shell = start({ env: offering });
  await shell.event('shown');
  await callBridge(shell, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
  await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
  await shell.event('message-box');
  await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
  await callBridge(shell, 'readPreferences');
  expect(shell.count('message-box')).toBe(1);
  await shell.happen({ do: 'press-button', button: 1 });
  await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
  await shell.event('message-box', 2);
});
