// The built shell, from its start to its end, over a stand-in for Electron.
import { existsSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAlive, type Shell } from './shell.ts';
import { announcing, serverModule, startingShells } from './starting-shells.ts';

const start = startingShells();

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
    expect(window.options).toMatchObject({ show: false, title: 'License Desk', width: 1440, height: 900 });
    expect(window.webPreferences).toMatchObject({
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webviewTag: false,
    });
    expect(existsSync(String(window.webPreferences['preload']))).toBe(true);
    const { headers } = await fetch(new URL('/', url));
    expect(headers.get('content-security-policy')).toContain("default-src 'none';script-src 'self'");
  });

  test('hands the server its own flags only, and keeps Chromium’s files apart', async () => {
    const shell = start({ args: ['--rate-limit=7', '--inspect=0'], env: announcing });
    const { args } = await shell.event('forked');
    expect(args).toEqual([`--data-dir=${shell.dataDir}`, '--port=0', '--admin-port=0', '--rate-limit=7']);
    const { path } = await shell.event('path');
    expect(realpathSync(path)).toBe(realpathSync(join(shell.dataDir, 'window')));
  });

  test('at login opens no window until it is requested', async () => {
    const shell = start({ args: ['--hidden'], env: announcing });
    await shell.event('forked');
    await shell.event('tray', 2);
    expect(shell.count('window')).toBe(0);
    await shell.happen({ do: 'click-tray', id: 'open' });
    // Not with the code of the start, which is only good for a while.
    expect((await shell.event('load')).url).toBe('http://127.0.0.1:1/?code=2');
  });

  test('of a second app exits immediately, and brings the first to the front', async () => {
    const second = start({ env: { STAND_IN_SECOND_INSTANCE: '1' } });
    expect(await second.exited).toBe(0);
    expect(second.count('forked')).toBe(0);

    const first = start({ env: announcing });
    await first.event('shown');
    await first.happen({ do: 'second-instance', argv: [] });
    await first.event('focused');
  });
});

describe('the window', () => {
  test('stays on its own page', async () => {
    const shell = start({ env: announcing });
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
    expect(shell.count('opened')).toBe(0);
    // The hand-over of a license; a frame or a redirect cannot open the mail program.
    const mail = 'mailto:orders%40obriensons.example?subject=Your%20license';
    for (const from of ['will-frame-navigate', 'will-redirect', 'will-navigate'] as const)
      expect(await shell.happen({ do: 'navigate', from, url: mail })).toBe(true);
    expect((await shell.event('opened')).what).toBe(mail);
    expect(shell.count('opened')).toBe(1);
    expect(await shell.happen({ do: 'attach-webview' })).toBe(true);
  });

  test('opens no other; the reference of the API goes to the system’s browser', async () => {
    const shell = start({ env: announcing });
    const { origin } = new URL((await shell.event('load')).url);
    for (const url of [`${origin}/`, 'https://example.com/', 'http://127.0.0.1:2.example.com/']) {
      expect(await shell.happen({ do: 'open-window', url })).toBe('deny');
    }
    expect(shell.count('opened')).toBe(0);
    expect(await shell.happen({ do: 'open-window', url: 'http://127.0.0.1:2/docs/' })).toBe('deny');
    expect((await shell.event('opened')).what).toBe('http://127.0.0.1:2/docs/');
  });

  test('gets no permission but to copy', async () => {
    const shell = start({ env: announcing });
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

  test('has a bridge that answers only its own page', async () => {
    const shell = start({ env: announcing });
    const { url } = await shell.event('load');
    expect(await shell.happen({ do: 'call-bridge', method: 'appInfo', senderUrl: url })).toEqual({
      names: ['licenseDesk'],
      reply: { version: '1.2.3', electron: '' },
    });
    for (const method of ['appInfo', 'signIn', 'takeOpenedFile', 'savePdf', 'saveText', 'readPreferences']) {
      expect(await shell.happen({ do: 'call-bridge', method, senderUrl: 'https://example.com/' })).toEqual({
        error: `Error invoking remote method '${method}': Error: the bridge answers its own page only`,
      });
    }
  });

  test('does not answer a frame that is gone', async () => {
    const shell = start({ env: announcing });
    await shell.event('load');
    const call = { do: 'call-bridge', method: 'appInfo', senderUrl: null } as const;
    expect(await shell.happen(call)).toEqual({
      error: "Error invoking remote method 'appInfo': Error: the bridge answers its own page only",
    });
  });

  test('requests a new code when the page asks, and opens the page with it', async () => {
    const shell = start({ env: announcing });
    expect((await shell.event('load')).url).toBe('http://127.0.0.1:1/?code=1');
    await shell.happen({ do: 'call-bridge', method: 'signIn', senderUrl: 'http://127.0.0.1:1/' });
    expect((await shell.event('load', 2)).url).toBe('http://127.0.0.1:1/?code=2#/licenses');
    expect(shell.count('forked')).toBe(1);
  });

  test('closes to the tray, explains that once, and reopens', async () => {
    const shell = start({ env: announcing });
    await shell.event('shown');
    await shell.happen({ do: 'close-window' });
    await shell.event('hidden');
    expect((await shell.event('notification')).title).toBe('License Desk is still running');
    await shell.happen({ do: 'click-tray', id: 'open' });
    await shell.event('shown', 2);
    await shell.happen({ do: 'close-window' });
    await shell.event('hidden', 2);
    expect(shell.count('notification')).toBe(1);
    expect(shell.count('window')).toBe(1);
    expect(isAlive((await shell.event('forked')).pid)).toBe(true);
  });

  test('keeps its position at the next start, unless that is off screen', async () => {
    const first = start({ env: announcing });
    await first.event('shown');
    await first.happen({ do: 'move-window', x: 40, y: 60, width: 1100, height: 700 });
    await first.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
    expect(await first.exited).toBe(0);

    const { dataDir } = first;
    const second = start({ env: announcing, dataDir });
    expect((await second.event('window')).options).toMatchObject({ x: 40, y: 60, width: 1100, height: 700 });
    await second.happen({ do: 'move-window', x: 9000, y: 60, width: 1100, height: 700 });
    await second.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
    await second.exited;

    const third = start({ env: announcing, dataDir });
    const { options } = await third.event('window');
    expect(options).toMatchObject({ width: 1100, height: 700 });
    expect(options).not.toHaveProperty('x');
  });

  test('fits on its screen, which may be smaller than the last one', async () => {
    const env = { ...announcing, STAND_IN_SCREEN: '1366x720' };
    const first = start({ env });
    expect((await first.event('window')).options).toMatchObject({ width: 1366, height: 720 });
    await first.event('shown');
    await first.happen({ do: 'move-window', x: 40, y: 60, width: 1800, height: 700 });
    await first.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
    await first.exited;

    const second = start({ env, dataDir: first.dataDir });
    expect((await second.event('window')).options).toMatchObject({ x: 0, y: 60, width: 1366, height: 700 });
  });
});

describe('a server that dies', () => {
  async function kill(shell: Shell, nth: number): Promise<void> {
    process.kill((await shell.event('forked', nth)).pid, 'SIGKILL');
  }

  test('is started again three times, and the window stays on its screen', async () => {
    const shell = start();
    const first = await shell.event('load');
    for (const nth of [1, 2, 3]) {
      await kill(shell, nth);
      const { url } = await shell.event('load', nth + 1);
      expect(await answers(url)).toBe(true);
      expect(url).not.toBe(first.url);
      expect(new URL(url).hash).toBe('#/licenses');
    }
    expect(shell.count('window')).toBe(1);
  });

  test('is given up after five failures, and a window explains why', async () => {
    const shell = start({ env: serverModule('dying-server') });
    expect((await shell.event('window')).options).toMatchObject({ width: 720 });
    expect(shell.count('forked')).toBe(5);
    const { url: senderUrl } = await shell.event('load');
    const view = async () =>
      ((await shell.happen({ do: 'call-bridge', method: 'shellView', senderUrl })) as { reply: object })
        .reply;
    expect(await view()).toMatchObject({
      kind: 'failure',
      title: 'The server keeps failing',
      reason: 'error: out of paper',
      log: '{"level":"fatal","msg":"no paper"}\nerror: out of paper',
    });

    await shell.answerShell(1, { kind: 'action', action: 'try_again' });
    await shell.event('window', 2);
    expect(shell.count('forked')).toBe(10);
    await shell.answerShell(2, { kind: 'action', action: 'quit' });
    expect(await shell.exited).toBe(0);
  });

  test('on request is started again every time', async () => {
    const shell = start({ env: serverModule('restarting-server') });
    await shell.event('forked', 8);
    expect(shell.count('window')).toBe(1);
  });
});

describe('a server that cannot start', () => {
  test('is not retried: the window explains what to do', async () => {
    const shell = start({ args: ['--port=99999'] });
    const { url: senderUrl } = await shell.event('load');
    expect(await shell.happen({ do: 'call-bridge', method: 'shellView', senderUrl })).toMatchObject({
      reply: {
        title: 'Invalid setting',
        reason: '--port is "99999", but must be 0 to 65535',
      },
    });
    expect(shell.count('forked')).toBe(1);
    const { webPreferences } = await shell.event('window');
    expect(webPreferences).toMatchObject({ contextIsolation: true, sandbox: true, nodeIntegration: false });

    // Only that window's own page may answer.
    const call = {
      do: 'call-bridge',
      method: 'shellView',
      senderUrl: 'license-desk://other/shell-page.html',
    } as const;
    expect(await shell.happen(call)).toEqual({
      error: "Error invoking remote method 'shellView': Error: the bridge answers its own page only",
    });

    // Opening the app again shows the reason.
    await shell.happen({ do: 'second-instance', argv: [] });
    await shell.event('focused');
    await shell.happen({ do: 'click-tray', id: 'open' });
    await shell.event('focused', 2);
    expect(shell.count('window')).toBe(1);
    await shell.answerShell(1, { kind: 'action', action: 'show_logs' });
    expect((await shell.event('opened')).what).toBe(join(shell.dataDir, 'logs'));
    await shell.answerShell(1, { kind: 'action', action: 'quit' });
    expect(await shell.exited).toBe(0);
  });

  test.each([
    ['an address that is taken', 'The server cannot listen on its address', 'is using it'],
    ['a directory that is in use', 'Cannot use the data directory', 'is in use by a server'],
  ])('for %s', async (what, title, reason) => {
    const first = start();
    const port = new URL((await first.event('load')).url).port;
    const isAddress = what.includes('address');
    const second = start({
      ...(isAddress ? {} : { dataDir: first.dataDir }),
      args: isAddress ? [`--admin-port=${port}`] : [],
    });
    const { url: senderUrl } = await second.event('load');
    const { reply } = (await second.happen({ do: 'call-bridge', method: 'shellView', senderUrl })) as {
      reply: { title: string; reason: string };
    };
    expect(reply.title).toBe(title);
    expect(reply.reason).toContain(reason);
  });

  test('for a data directory that is none', async () => {
    const other = start({ env: announcing });
    await other.event('forked');
    const dataDir = join(other.dataDir, 'file');
    writeFileSync(dataDir, 'not a directory');
    const shell = start({ dataDir });
    const { url: senderUrl } = await shell.event('load');
    expect(await shell.happen({ do: 'call-bridge', method: 'shellView', senderUrl })).toMatchObject({
      reply: { title: 'Cannot use the data directory', reason: expect.stringContaining(dataDir) },
    });
  });
});

describe('quitting', () => {
  test('stops the server cleanly, and first', async () => {
    const shell = start();
    await shell.event('shown');
    const { pid } = await shell.event('forked');
    await shell.happen({ do: 'click-menu', id: 'quit' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(isAlive(pid)).toBe(false);
    expect(existsSync(join(shell.dataDir, 'runtime.json'))).toBe(false);
    expect(shell.count('forked')).toBe(1);
    expect((await shell.event('posted')).type).toBe('stop');
  });

  test('happens when the window closes, if the app does not stay in the tray', async () => {
    const shell = start({ env: announcing });
    const { url: senderUrl } = await shell.event('load');
    const change = { keep_in_tray: false };
    await shell.happen({ do: 'call-bridge', method: 'changePreferences', arguments: [change], senderUrl });
    await shell.happen({ do: 'close-window' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect(shell.count('hidden')).toBe(0);
  });

  test('does not wait for a server that hangs', async () => {
    const shell = start({ env: serverModule('hanging-server') });
    await shell.event('shown');
    const { pid } = await shell.event('forked');
    await shell.event('tray', 2);
    shell.process.kill('SIGTERM');
    expect(await shell.exited).toBe(0);
    expect(isAlive(pid)).toBe(false);
  });
});
