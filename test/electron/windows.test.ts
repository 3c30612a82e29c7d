// Windows on compositors and systems that treat them differently.
import { describe, expect, test } from 'vitest';
import type { Shell } from './shell.ts';
import { announcing, callBridge, quit, startingShells } from './starting-shells.ts';

const start = startingShells();

describe('a window', () => {
  test('appears on Wayland, where nothing is ready to show before it is shown', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_WAYLAND: '1' } });
    await shell.event('shown');
    expect((await shell.event('window')).options).toHaveProperty('backgroundColor');
    await shell.happen({ do: 'second-instance', argv: [] });
    await shell.event('focused');
    expect(shell.count('window')).toBe(1);
  });

  test('appears even when its page never finishes loading', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_STALLED: '1' } });
    await shell.event('shown');
    expect(shell.order('load', 'shown')).toEqual(['load', 'shown']);
  });

  test('that was maximized is not maximized before it can be shown', async () => {
    const first = start({ env: announcing });
    await first.event('shown');
    const bounds = { x: 0, y: 0, width: 1200, height: 800, maximized: true };
    await first.happen({ do: 'move-window', ...bounds });
    expect(await quit(first)).toBe(0);
    const second = start({ env: announcing, dataDir: first.dataDir });
    await second.event('maximized');
    await second.event('shown');
    expect(second.order('load', 'maximized')).toEqual(['load', 'maximized']);
    expect(second.order('shown', 'maximized')).toEqual(['maximized', 'shown']);
  });

  test('leaves full screen on macOS before it is hidden', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_PLATFORM: 'darwin' } });
    await shell.event('shown');
    await shell.happen({ do: 'enter-full-screen' });
    await shell.event('full-screen');
    await shell.happen({ do: 'close-window' });
    await shell.event('hidden');
    expect(shell.count('black-space')).toBe(0);
  });

  test('that is closed during a download ends neither the download nor the app', async () => {
    const shell = start({ env: announcing });
    await shell.event('shown');
    await callBridge(shell, 'changePreferences', { keep_in_tray: true });
    await shell.happen({ do: 'second-instance', argv: [] });
    await shell.happen({ do: 'download', steps: ['updated', 'destroy-window', 'updated', 'done'] });
    expect((await shell.event('download')).state).toBe('completed');
    expect(shell.count('error-box')).toBe(0);
  });

  test('loads its page again when that has crashed, and on request after it crashed too often', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_LONGEST_TIMER: '50' } });
    await shell.event('shown');
    for (const nth of [2, 3, 4, 5]) {
      await shell.happen({ do: 'crash-page' });
      await shell.event('load', nth);
    }
    await shell.happen({ do: 'crash-page' });
    await shell.happen({ do: 'click-tray', id: 'open' });
    expect((await shell.event('load', 6)).url).toContain('code=2');
    expect(shell.count('window')).toBe(1);
  });

  describe('whose page objects to being left', () => {
    const LEAVE = 0;
    const STAY = 1;

    async function startGuarded(env: Record<string, string> = {}) {
      const shell = start({ env: { ...announcing, ...env } });
      await shell.event('shown');
      await shell.happen({ do: 'guard-page' });
      return shell;
    }

    test('asks before a reload', async () => {
      const shell = await startGuarded();
      await shell.happen({ do: 'reload-page' });
      expect((await shell.event('message-box')).buttons).toEqual(['Leave', 'Stay']);
      await shell.happen({ do: 'press-button', button: STAY });
      await shell.happen({ do: 'reload-page' });
      await shell.event('message-box', 2);
      expect(shell.count('load')).toBe(1);
      await shell.happen({ do: 'press-button', button: LEAVE });
      await shell.event('load', 2);
      // The page that was loaded has its own say.
      await shell.happen({ do: 'reload-page' });
      await shell.event('message-box', 3);
    });

    test('asks before the user quits, and is hidden by its next close if the app stays', async () => {
      const shell = await startGuarded();
      await shell.happen({ do: 'click-tray', id: 'quit' });
      await shell.event('message-box');
      await shell.happen({ do: 'press-button', button: STAY });
      await shell.happen({ do: 'click-menu', id: 'quit' });
      await shell.event('message-box', 2);
      await shell.happen({ do: 'press-button', button: STAY });
      await shell.happen({ do: 'close-window' });
      await shell.event('hidden');
      expect(shell.count('message-box')).toBe(2);
      await shell.happen({ do: 'click-tray', id: 'quit' });
      await shell.event('message-box', 3);
      await shell.happen({ do: 'press-button', button: LEAVE }).catch(() => {});
      expect(await shell.exited).toBe(0);
      expect(shell.count('shown')).toBe(2);
    });

    test('asks once, however often the user quits before the answer', async () => {
      const shell = await startGuarded();
      await shell.happen({ do: 'click-tray', id: 'quit' });
      await shell.happen({ do: 'click-tray', id: 'quit' });
      await shell.event('message-box');
      await shell.happen({ do: 'press-button', button: LEAVE }).catch(() => {});
      expect(await shell.exited).toBe(0);
      expect(shell.count('message-box')).toBe(1);
    });

    test('asks before it is closed, if that quits the app', async () => {
      const shell = await startGuarded();
      await callBridge(shell, 'changePreferences', { keep_in_tray: false });
      await shell.happen({ do: 'close-window' });
      await shell.event('message-box');
      await shell.happen({ do: 'press-button', button: STAY });
      await shell.happen({ do: 'close-window' });
      await shell.event('message-box', 2);
      expect(shell.count('closed')).toBe(0);
      await shell.happen({ do: 'press-button', button: LEAVE }).catch(() => {});
      expect(await shell.exited).toBe(0);
    });

    test('asks on macOS before the Dock quits the app', async () => {
      const shell = await startGuarded({ STAND_IN_PLATFORM: 'darwin' });
      await shell.happen({ do: 'quit-from-dock' });
      await shell.event('message-box');
      await shell.happen({ do: 'press-button', button: STAY });
      await shell.happen({ do: 'quit-from-dock' });
      await shell.event('message-box', 2);
      expect(shell.count('posted')).toBe(0);
      await shell.happen({ do: 'press-button', button: LEAVE }).catch(() => {});
      expect(await shell.exited).toBe(0);
    });

    test('asks before the app quits because its key was exported', async () => {
      const shell = await startGuarded();
      await shell.happen({ do: 'click-menu', id: 'write-key-file' });
      await shell.event('message-box');
      await shell.happen({ do: 'press-button', button: 0 });
      expect((await shell.event('message-box', 2)).buttons).toEqual(['Leave', 'Stay']);
    });

    describe.each(['linux', 'darwin', 'win32'])('on %s', (platform) => {
      const ENDS = {
        'an installer': (shell: Shell) => shell.happen({ do: 'second-instance', argv: ['--quit'] }),
        'the end of the session': (shell: Shell) => shell.happen({ do: 'end-session' }),
        'a signal': async (shell: Shell) => shell.process.kill('SIGTERM'),
      };
      const names = Object.keys(ENDS) as (keyof typeof ENDS)[];

      test.each(names)('does not keep the app from %s', async (name) => {
        const shell = await startGuarded({ STAND_IN_PLATFORM: platform });
        await ENDS[name](shell).catch(() => {});
        expect(await shell.exited).toBe(0);
        expect(shell.count('message-box')).toBe(0);
      });

      test.each(names)('does not keep the app from %s while it asks', async (name) => {
        const shell = await startGuarded({ STAND_IN_PLATFORM: platform });
        await shell.happen({ do: 'click-tray', id: 'quit' });
        await shell.event('message-box');
        await ENDS[name](shell).catch(() => {});
        expect(await shell.exited).toBe(0);
      });

      test('does not keep the app from the end of the session after the user stayed', async () => {
        const shell = await startGuarded({ STAND_IN_PLATFORM: platform });
        await shell.happen({ do: 'click-tray', id: 'quit' });
        await shell.event('message-box');
        await shell.happen({ do: 'press-button', button: STAY });
        await shell.happen({ do: 'end-session' }).catch(() => {});
        expect(await shell.exited).toBe(0);
      });
    });
  });

  test('is minimized where the desktop shows no tray icons', async () => {
    const shell = start({ env: { ...announcing, STAND_IN_TRAY: 'false' } });
    await shell.event('shown');
    await shell.happen({ do: 'close-window' });
    await shell.event('minimized');
    expect(shell.count('hidden')).toBe(0);
    expect((await shell.event('notification')).body).toContain('minimized');
  });
});
