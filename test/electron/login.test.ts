// Starts and ends with the session of the user.
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import type { Preferences } from '../../electron/bridge.ts';
import { announcing, callBridge, quit, startingShells } from './starting-shells.ts';

const start = startingShells();
let config: string;

beforeEach(() => {
  config = mkdtempSync(join(tmpdir(), 'license-desk-config-'));
});
afterEach(() => rmSync(config, { recursive: true, force: true }));

const entry = () => join(config, 'autostart', 'license-desk.desktop');

describe('start at login', () => {
  test('keeps the data directory and the ports of the command line on Linux', async () => {
    const shell = start({ env: { ...announcing, XDG_CONFIG_HOME: config } });
    await shell.event('shown');
    await callBridge(shell, 'changePreferences', { start_at_login: true });
    const [, command = ''] = /^Exec=(.*)$/mu.exec(readFileSync(entry(), 'utf8')) ?? [];
    expect(command).toContain(`"--data-dir=${shell.dataDir}"`);
    expect(command).toContain('"--port=0" "--admin-port=0" "--hidden"');
    // Desktops ignore the entry once the program is removed.
    expect(readFileSync(entry(), 'utf8')).toMatch(/^Icon=license-desk\nTryExec=\/.+$/mu);
    await callBridge(shell, 'changePreferences', { start_at_login: false });
    expect(existsSync(entry())).toBe(false);
  });

  test('keeps those of the environment, which differs at login', async () => {
    const dataDir = join(config, 'desk');
    const places = { LICENSE_DESK_DATA_DIR: dataDir, XDG_CONFIG_HOME: config };
    const ports = { LICENSE_DESK_PORT: '0', LICENSE_DESK_ADMIN_PORT: '0' };
    const shell = start({ env: { ...announcing, ...places, ...ports }, hasFlags: false });
    await shell.event('shown');
    await callBridge(shell, 'changePreferences', { start_at_login: true });
    const [, command] = /^Exec=(.*)$/mu.exec(readFileSync(entry(), 'utf8')) ?? [];
    expect(command).toContain(`"--port=0" "--admin-port=0" "--data-dir=${dataDir}" "--hidden"`);
  });

  test('keeps them on Windows, with paths in quotes', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_PLATFORM: 'win32', STAND_IN_PACKAGED: '1' } });
    await shell.event('shown');
    await callBridge(shell, 'changePreferences', { start_at_login: true });
    const { openAtLogin, command } = await shell.event('login-item');
    expect(openAtLogin).toBe(true);
    expect(command).toBe(
      `"${process.execPath}" "--data-dir=${shell.dataDir}" "--port=0" "--admin-port=0" "--hidden"`,
    );
    const { reply } = await callBridge<Preferences>(shell, 'readPreferences');
    expect(reply?.start_at_login).toBe(true);
  });

  test('keeps them on macOS, which starts an app without arguments', async () => {
    const home = { HOME: config, LICENSE_DESK_DATA_DIR: '', STAND_IN_APP_DATA: config };
    const env = { ...announcing, ...home, STAND_IN_PLATFORM: 'darwin', STAND_IN_PACKAGED: '1' };
    const first = start({ env });
    await first.event('shown');
    await callBridge(first, 'changePreferences', { start_at_login: true });
    expect(await quit(first)).toBe(0);
    const next = start({ env: { ...env, STAND_IN_OPENED_AT_LOGIN: '1' }, hasFlags: false });
    expect((await next.event('forked')).args).toContain(`--data-dir=${first.dataDir}`);
  });

  test('opens no window and no Dock icon on macOS until the app is opened', async () => {
    const env = { STAND_IN_PLATFORM: 'darwin', STAND_IN_OPENED_AT_LOGIN: '1' };
    const shell = start({ env: { ...announcing, ...env } });
    await shell.event('tray', 2);
    expect(shell.count('window')).toBe(0);
    expect((await shell.event('dock')).isVisible).toBe(false);
    await shell.happen({ do: 'click-tray', id: 'open' });
    await shell.event('shown');
    expect((await shell.event('dock', 2)).isVisible).toBe(true);
  });

  test('is read from the system, not from an earlier choice', async () => {
    const shell = start({ env: { ...announcing, XDG_CONFIG_HOME: config } });
    await shell.event('shown');
    const isOn = async () => (await callBridge<Preferences>(shell, 'readPreferences')).reply?.start_at_login;
    await callBridge(shell, 'changePreferences', { start_at_login: true });
    expect(await isOn()).toBe(true);
    rmSync(entry());
    expect(await isOn()).toBe(false);
    mkdirSync(join(config, 'autostart'), { recursive: true });
    writeFileSync(entry(), '[Desktop Entry]\nHidden=true\n');
    expect(await isOn()).toBe(false);
  });

  test('follows an AppImage that an update renamed', async () => {
    const env = {
      XDG_CONFIG_HOME: config,
      APPIMAGE: '/opt/license-desk-1.AppImage',
      STAND_IN_UPDATE: '2.0.0',
    };
    const shell = start({ env: { ...announcing, ...env, STAND_IN_PACKAGED: '1' } });
    await shell.event('shown');
    const address = { start_at_login: true, update_address: 'https://127.0.0.1:9/' };
    await callBridge(shell, 'changePreferences', address);
    expect(readFileSync(entry(), 'utf8')).toContain('license-desk-1.AppImage');
    await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
    await shell.event('message-box');
    await shell.happen({ do: 'app-image-renamed', path: '/opt/license-desk-2.AppImage' });
    expect(readFileSync(entry(), 'utf8')).toContain('Exec="/opt/license-desk-2.AppImage"');
  });
});

describe('the end of the session', () => {
  test.each(['linux', 'darwin'])('waits on %s until the server has stopped', async (platform) => {
    const shell = start({ env: { ...announcing, STAND_IN_PLATFORM: platform } });
    await shell.event('shown');
    await shell.happen({ do: 'end-session' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect((await shell.event('posted')).type).toBe('stop');
  });

  test('reaches the app on Windows, with and without a window', async () => {
    for (const args of [[], ['--hidden']]) {
      const shell = start({ env: { ...announcing, STAND_IN_PLATFORM: 'win32' }, args });
      await shell.event('tray', 2);
      await shell.happen({ do: 'end-session' }).catch(() => {});
      expect(await shell.exited).toBe(0);
      expect((await shell.event('posted')).type).toBe('stop');
    }
  });

  test('comes with --quit, as the installer asks for it', async () => {
    const shell = start({ env: announcing });
    await shell.event('shown');
    await shell.happen({ do: 'second-instance', argv: ['license-desk', '--quit'] }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect((await shell.event('posted')).type).toBe('stop');

    const nothingRuns = start({ env: announcing, args: ['--quit'] });
    expect(await nothingRuns.exited).toBe(0);
    expect(nothingRuns.count('forked')).toBe(0);
  });

  test('with --quit reaches the apps on all data directories, or the one that is named', async () => {
    const said = join(config, 'said');
    writeFileSync(
      join(config, 'index.js'),
      `require('node:fs').appendFileSync(${JSON.stringify(said)}, process.argv.slice(2).join(' ') + '\\n')`,
    );
    const places = {
      HOME: config,
      XDG_DATA_HOME: config,
      LICENSE_DESK_DATA_DIR: '',
      STAND_IN_APP_DATA: config,
    };
    const env = { ...announcing, ...places, STAND_IN_APP_PATH: config };
    const shells = [start({ env }), start({ env })];
    await Promise.all(shells.map((shell) => shell.event('shown')));
    const [first, second] = shells.map(({ dataDir }) => `--quit --data-dir=${dataDir}\n`);

    const named = start({ env, args: ['--quit'] });
    expect(await named.exited).toBe(0);
    const all = start({ env, args: ['--quit'], hasFlags: false });
    expect(await all.exited).toBe(0);
    const lines = () =>
      existsSync(said) ? readFileSync(said, 'utf8').split('\n').toSorted().join('\n') : '';
    await expect.poll(lines).toBe(`\n${[first, second].toSorted().join('').trimEnd()}`);
  });

  test('does not use up what an update remembered for the next start', async () => {
    const env = { ...announcing, STAND_IN_APP_DATA: config };
    const remembered = join(config, 'License Desk', 'start-after-update.json');
    mkdirSync(join(config, 'License Desk'));
    writeFileSync(remembered, JSON.stringify({ args: ['--hidden'], at: Date.now() }));
    expect(await start({ env, args: ['--quit'] }).exited).toBe(0);
    expect(existsSync(remembered)).toBe(true);
  });
});
