// The built shell, from its start to its end, over a stand-in for Electron.
import { existsSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from 'vitest';
import { isAlive, type Shell, startShell } from './shell.ts';

let shells: Shell[] = [];

function start(options?: Parameters<typeof startShell>[0]): Shell {
  const shell = startShell(options);
  shells.push(shell);
  return shell;
}

afterEach(async () => {
  await Promise.all(shells.map((shell) => shell.dispose()));
  shells = [];
});

/** Whether the page and the API of a running server answer. */
async function answers(address: string): Promise<boolean> {
  const response = await fetch(new URL('/', address)).catch(() => null);
  return response?.ok === true;
}

describe('start', () => {
  test('ends with a window on the page that the server serves', async () => {
    const shell = start();
    const window = await shell.event('window');
    const { url } = await shell.event('load');
    await shell.event('shown');
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/\?code=[\w-]+$/u);
    expect(await answers(url)).toBe(true);
    expect(window.options).toMatchObject({ show: false, title: 'License Desk' });
    expect(window.webPreferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
    });
    expect(existsSync(String(window.webPreferences['preload']))).toBe(true);
  });

  test('hands the server its own flags only, and keeps Chromium’s files apart', async () => {
    const shell = start({ args: ['--rate-limit=7', '--inspect=0'] });
    const { args } = await shell.event('forked');
    expect(args).toEqual([`--data-dir=${shell.dataDir}`, '--port=0', '--admin-port=0', '--rate-limit=7']);
    const { path } = await shell.event('path');
    expect(realpathSync(path)).toBe(realpathSync(join(shell.dataDir, 'window')));
  });

  test('of a second app leaves at once, and brings the first to the front', async () => {
    const second = start({ env: { STAND_IN_SECOND_INSTANCE: '1' } });
    expect(await second.exited).toBe(0);
    expect(second.count('forked')).toBe(0);

    const first = start();
    await first.event('shown');
    await first.happen({ do: 'second-instance' });
    await first.event('focused');
  });
});

describe('the window', () => {
  test('stays on its own page', async () => {
    const shell = start();
    const { origin } = new URL((await shell.event('load')).url);
    for (const from of ['will-navigate', 'will-frame-navigate', 'will-redirect'] as const) {
      expect(await shell.happen({ do: 'navigate', from, url: `${origin}/#/licenses` })).toBe(false);
      for (const url of [
        'https://example.com/',
        `${origin}.example.com/`,
        'file:///etc/passwd',
        'about:blank',
      ]) {
        expect(await shell.happen({ do: 'navigate', from, url })).toBe(true);
      }
    }
    expect(await shell.happen({ do: 'open-window', url: `${origin}/` })).toBe('deny');
    expect(await shell.happen({ do: 'attach-webview' })).toBe(true);
  });

  test('gets no permission but to copy', async () => {
    const shell = start();
    const { origin } = new URL((await shell.event('load')).url);
    for (const permission of [
      'media',
      'geolocation',
      'notifications',
      'clipboard-read',
      'openExternal',
      'usb',
    ]) {
      expect(await shell.happen({ do: 'ask-permission', permission, origin })).toEqual([false, false]);
    }
    const permission = 'clipboard-sanitized-write';
    expect(await shell.happen({ do: 'ask-permission', permission, origin })).toEqual([true, true]);
    expect(await shell.happen({ do: 'ask-permission', permission, origin: 'https://example.com' })).toEqual([
      false,
      false,
    ]);
  });

  test('has a bridge that answers its own page only', async () => {
    const shell = start();
    const { url } = await shell.event('load');
    expect(await shell.happen({ do: 'call-bridge', method: 'appInfo', senderUrl: url })).toEqual({
      names: ['licenseDesk'],
      reply: { version: '1.2.3', electron: '' },
    });
    expect(
      await shell.happen({ do: 'call-bridge', method: 'appInfo', senderUrl: 'https://example.com/' }),
    ).toEqual({ error: 'the bridge answers its own page only' });
  });

  test('asks the server for a fresh code on the page’s word, and opens the page with it', async () => {
    const shell = start({ env: { STAND_IN_SERVER: import.meta.resolve('./announcing-server.ts') } });
    expect((await shell.event('load')).url).toBe('http://127.0.0.1:1/?code=1');
    await shell.happen({ do: 'call-bridge', method: 'signIn', senderUrl: 'http://127.0.0.1:1/' });
    expect((await shell.event('load', 2)).url).toBe('http://127.0.0.1:1/?code=2#/licenses');
    expect(shell.count('forked')).toBe(1);
  });
});

describe('a server that dies', () => {
  test('is started again, and the window finds it where it was', async () => {
    const shell = start();
    const first = await shell.event('load');
    const { pid } = await shell.event('forked');
    process.kill(pid, 'SIGKILL');
    const second = await shell.event('load', 2);
    expect((await shell.event('forked', 2)).pid).not.toBe(pid);
    expect(await answers(second.url)).toBe(true);
    expect(second.url).not.toBe(first.url);
    expect(new URL(second.url).hash).toBe('#/licenses');
    expect(shell.count('window')).toBe(1);
  });

  test('is given up after five failures, with a dialog that says why', async () => {
    const shell = start({ args: ['--port=99999'] });
    const { detail } = await shell.event('dialog');
    expect(shell.count('forked')).toBe(5);
    expect(detail).toContain('--port is "99999", but must be 0 to 65535');
    expect(detail).not.toContain('"level"');

    await shell.happen({ do: 'press-button', button: 0 });
    await shell.event('dialog', 2);
    expect(shell.count('forked')).toBe(10);

    await shell.happen({ do: 'press-button', button: 1 });
    expect(await shell.exited).toBe(0);
  });
});

describe('quitting', () => {
  test('stops the server cleanly', async () => {
    const shell = start();
    await shell.event('shown');
    const { pid } = await shell.event('forked');
    await shell.happen({ do: 'close-window' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(shell.dataDir, 'runtime.json'))).toBe(false);
    expect(shell.count('forked')).toBe(1);
  });

  test('does not wait for a server that hangs', async () => {
    const shell = start({ env: { STAND_IN_SERVER: import.meta.resolve('./hanging-server.ts') } });
    await shell.event('shown');
    const { pid } = await shell.event('forked');
    await new Promise((done) => {
      setTimeout(done, 400);
    });
    const asked = Date.now();
    shell.process.kill('SIGTERM');
    expect(await shell.exited).toBe(0);
    expect(Date.now() - asked).toBeLessThan(6500);
    expect(isAlive(pid)).toBe(false);
  });
});
