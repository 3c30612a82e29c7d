// Desktop integration: tray, menu, notifications, opened files, dialogs, power, login.
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { execFileSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, describe, expect, test } from 'vitest';
import type { Preferences } from '../../electron/bridge.ts';
import type { Shell } from './shell.ts';
import { announcing, callBridge, startingShells } from './starting-shells.ts';

const start = startingShells();
const PAGE = 'http://127.0.0.1:1/';

const folder = mkdtempSync(join(tmpdir(), 'license-desk-opened-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function fileOf(name: string, content: string): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

async function opened(env: Record<string, string> = {}, args: string[] = []): Promise<Shell> {
  const shell = start({ env: { ...announcing, ...env }, args });
  await shell.event('shown');
  return shell;
}

describe('the tray', () => {
  test('shows the server status, and when it is down', async () => {
    const status = { health: 'failing', failed_deliveries: 3, ending_soon: 1 };
    const shell = await opened({ STAND_IN_STATUS: JSON.stringify(status) });
    const before = await shell.event('tray');
    expect(before).toMatchObject({ tooltip: 'License Desk: Server is not running' });
    expect(before.icon).toMatch(/tray-down\.png$/u);
    expect(existsSync(before.icon)).toBe(true);
    expect((await shell.event('tray', 2)).icon).toMatch(/tray-ok\.png$/u);

    await shell.happen({ do: 'resume' });
    const after = await shell.event('tray', 3);
    expect(after.icon).toMatch(/tray-attention\.png$/u);
    expect(after.items.map(({ label }) => label)).toEqual([
      'Server needs attention',
      '3 webhook deliveries failed',
      '1 license expires within 7 days',
      'API: http://127.0.0.1:2/',
      'Open License Desk',
      'Copy API Address',
      'Restart Server',
      'Notifications',
      'Quit License Desk',
    ]);
    process.kill((await shell.event('forked')).pid, 'SIGKILL');
    expect((await shell.event('tray', 4)).icon).toMatch(/tray-down\.png$/u);
  });

  test('opens its menu and nothing else on macOS', async () => {
    const shell = await opened({ STAND_IN_PLATFORM: 'darwin' });
    await shell.happen({ do: 'click-tray-icon' });
    await callBridge(shell, 'readPreferences');
    expect(shell.count('focused')).toBe(0);
    const windows = await opened({ STAND_IN_PLATFORM: 'win32' });
    await windows.happen({ do: 'click-tray-icon' });
    await windows.event('focused');
  });

  test('shows on macOS that the server is down', async () => {
    const shell = await opened({ STAND_IN_PLATFORM: 'darwin' });
    const [down, up] = [await shell.event('tray'), await shell.event('tray', 2)];
    expect(down.icon).not.toBe(up.icon);
    expect([down.icon, up.icon].every((icon) => icon.endsWith('Template.png') && existsSync(icon))).toBe(
      true,
    );
  });

  test('restarts the server', async () => {
    const shell = await opened();
    await shell.event('tray', 2);
    await shell.happen({ do: 'click-tray', id: 'restart-server' });
    expect((await shell.event('posted')).type).toBe('stop');
    await shell.event('forked', 2);
    expect((await shell.event('load', 2)).url).toContain('code=1');
  });

  test('copies the API address, like the menu', async () => {
    const shell = await opened();
    await shell.happen({ do: 'click-tray', id: 'copy-api-address' });
    expect((await shell.event('copied')).text).toBe('http://127.0.0.1:2/');
    await shell.happen({ do: 'click-menu', id: 'copy-api-address' });
    expect((await shell.event('copied', 2)).text).toBe('http://127.0.0.1:2/');
  });
});

describe('notifications', () => {
  const status = { failed_deliveries: 2, ending_soon: 5 };

  test('report failed events and expiring licenses once, and open them', async () => {
    const shell = await opened({ STAND_IN_STATUS: JSON.stringify(status) });
    await shell.happen({ do: 'resume' });
    expect((await shell.event('notification')).body).toBe('2 webhook deliveries failed');
    expect((await shell.event('notification', 2)).body).toBe('5 licenses expire within 7 days');
    await shell.happen({ do: 'resume' });
    await shell.event('tray', 4);
    expect(shell.count('notification')).toBe(2);

    await shell.happen({ do: 'click-notification', number: 1 });
    expect((await shell.event('load', 2)).url).toBe(`${PAGE}#/failed-events`);
    await shell.happen({ do: 'click-notification', number: 2 });
    expect((await shell.event('load', 3)).url).toBe(`${PAGE}#/licenses?expires_within_days=7`);
  });

  test('open them on Windows from the Action Center', async () => {
    const shell = await opened({ STAND_IN_STATUS: JSON.stringify(status), STAND_IN_PLATFORM: 'win32' });
    await shell.happen({ do: 'resume' });
    await shell.event('notification', 2);
    await shell.happen({ do: 'click-notification', number: 1 });
    expect((await shell.event('load', 2)).url).toBe(`${PAGE}#/failed-events`);
    await shell.happen({ do: 'time-out-notification', number: 2 });
    await shell.happen({ do: 'click-notification', number: 2 });
    expect((await shell.event('load', 3)).url).toBe(`${PAGE}#/licenses?expires_within_days=7`);
  });

  test('can be turned off in the tray', async () => {
    const shell = await opened({ STAND_IN_STATUS: JSON.stringify(status) });
    await shell.happen({ do: 'click-tray', id: 'notifications' });
    const { reply } = await callBridge<Preferences>(shell, 'readPreferences');
    expect(reply?.notifications).toBe(false);
    await shell.happen({ do: 'resume' });
    const { items } = await shell.eventThat('tray', (tray) => tray.items.length > 8);
    expect(items.find(({ id }) => id === 'notifications')?.checked).toBe(false);
    expect(shell.count('notification')).toBe(0);
  });

  test('stay on in the tray if that cannot be saved', async () => {
    const shell = await opened();
    await shell.event('tray', 2);
    mkdirSync(join(shell.dataDir, 'window', 'preferences.json', 'in the way'), { recursive: true });
    await shell.happen({ do: 'click-tray', id: 'notifications' });
    expect((await shell.event('error-box')).title).toBe('Cannot save preferences.json');
    const { items } = await shell.event('tray', 3);
    expect(items.find(({ id }) => id === 'notifications')?.checked).toBe(true);
  });

  test('can be done without', async () => {
    const shell = await opened({ STAND_IN_STATUS: JSON.stringify(status) });
    await callBridge(shell, 'changePreferences', { notifications: false });
    await shell.happen({ do: 'resume' });
    await shell.event('tray', 3);
    expect(shell.count('notification')).toBe(0);
  });
});

describe('a file of the product', () => {
  test('on the command line waits for the page, which takes it once', async () => {
    const path = fileOf('press.req', 'the request');
    const shell = await opened({}, [path]);
    const take = () => callBridge(shell, 'takeOpenedFile');
    expect((await take()).reply).toEqual({ name: 'press.req', kind: 'request', text: 'the request' });
    expect((await take()).reply).toBeNull();
  });

  test('of a second start, or opened by the system, reaches the page', async () => {
    const shell = await opened();
    const path = fileOf('Müller & Söhne.LIC', 'the license');
    await shell.happen({ do: 'second-instance', argv: ['license-desk', '--flag', path] });
    expect((await shell.event('sent')).channel).toBe('fileOpened');
    await shell.event('focused');
    expect((await callBridge(shell, 'takeOpenedFile')).reply).toMatchObject({
      name: 'Müller & Söhne.LIC',
      kind: 'license',
    });
    await shell.happen({ do: 'open-file', path: fileOf('mac.req', 'from the Finder') });
    await shell.event('sent', 2);
    expect((await callBridge(shell, 'takeOpenedFile')).reply).toMatchObject({ text: 'from the Finder' });
  });

  test('arrives from a Linux desktop as a URL, with any characters in its name', async () => {
    const shell = await opened();
    const path = fileOf('Müller & Söhne 100%.lic', 'the license');
    const argv = ['license-desk', '--flag', pathToFileURL(path).href];
    await shell.happen({ do: 'second-instance', argv });
    expect((await shell.event('sent')).channel).toBe('fileOpened');
    expect((await callBridge(shell, 'takeOpenedFile')).reply).toMatchObject({
      name: 'Müller & Söhne 100%.lic',
      text: 'the license',
    });
    await shell.happen({ do: 'second-instance', argv: ['license-desk', 'file:///100%.lic'] });
    await shell.event('focused', 2);
    expect(shell.count('error-box')).toBe(0);
  });

  test('is chosen in the menu, through the system’s dialog', async () => {
    const shell = await opened();
    await shell.happen({ do: 'click-menu', id: 'open-file' });
    expect((await shell.event('file-dialog')).extensions).toContain('req');
    await shell.happen({ do: 'choose-path', path: fileOf('chosen.req', 'chosen') });
    await shell.event('sent');
    expect((await callBridge(shell, 'takeOpenedFile')).reply).toMatchObject({ name: 'chosen.req' });
  });

  test('that is missing or too large is reported', async () => {
    const shell = await opened();
    await shell.happen({ do: 'second-instance', argv: [join(folder, 'gone.lic')] });
    expect(await shell.event('error-box')).toMatchObject({ title: 'Cannot open gone.lic' });
    const large = fileOf('large.lic', 'x'.repeat(300_000));
    await shell.happen({ do: 'second-instance', argv: [large] });
    expect((await shell.event('error-box', 2)).content).toBe('The file is larger than 256 KiB.');
    expect((await callBridge(shell, 'takeOpenedFile')).reply).toBeNull();
  });

  test('that is none is not read', async () => {
    const shell = await opened();
    const path = join(folder, 'folder.lic');
    mkdirSync(path);
    await shell.happen({ do: 'second-instance', argv: [path] });
    expect((await shell.event('error-box')).content).toBe('It is not a file.');
    // A pipe without a writer.
    if (process.platform === 'win32') return;
    const pipe = join(folder, 'pipe.lic');
    execFileSync('mkfifo', [pipe]);
    await shell.happen({ do: 'second-instance', argv: [pipe] });
    expect(await shell.event('error-box', 2)).toEqual({
      event: 'error-box',
      title: 'Cannot open pipe.lic',
      content: 'It is not a file.',
    });
  });
});

describe('a page on paper', () => {
  test('is saved where the administrator chooses, under that name', async () => {
    const shell = await opened({ STAND_IN_DOCUMENTS: folder });
    const saving = callBridge<boolean>(shell, 'savePdf', '../../etc/license: A/B');
    expect(await shell.event('file-dialog')).toMatchObject({
      kind: 'save',
      defaultPath: join(folder, '-..-etc-license- A-B.pdf'),
      extensions: ['pdf'],
    });
    const path = join(folder, 'license.pdf');
    await shell.happen({ do: 'choose-path', path });
    expect((await saving).reply).toBe(true);
    expect(readFileSync(path, 'latin1')).toMatch(/^%PDF/u);

    const dropping = callBridge<boolean>(shell, 'savePdf', 'other.pdf');
    await shell.event('file-dialog', 2);
    await shell.happen({ do: 'choose-path', path: null });
    expect((await dropping).reply).toBe(false);

    const failing = callBridge<boolean>(shell, 'savePdf', 'other.pdf');
    await shell.event('file-dialog', 3);
    await shell.happen({ do: 'choose-path', path: join(folder, 'no', 'such', 'folder.pdf') });
    expect((await failing).error).toContain('ENOENT');
  });
});

describe('a secret', () => {
  test('is saved where the administrator chooses; the page learns whether it was', async () => {
    const shell = await opened({ STAND_IN_DOCUMENTS: folder });
    const secret = { name: '../api-token.txt', text: 'ldk_1\n' };
    const dropping = callBridge<boolean>(shell, 'saveText', secret);
    expect(await shell.event('file-dialog')).toMatchObject({
      kind: 'save',
      defaultPath: join(folder, '-api-token.txt'),
      extensions: ['txt'],
    });
    await shell.happen({ do: 'choose-path', path: null });
    expect((await dropping).reply).toBe(false);

    // What it replaces was readable for all.
    const path = fileOf('token.txt', 'a former, longer token');
    chmodSync(path, 0o644);
    const saving = callBridge<boolean>(shell, 'saveText', secret);
    await shell.event('file-dialog', 2);
    await shell.happen({ do: 'choose-path', path });
    expect((await saving).reply).toBe(true);
    expect(readFileSync(path, 'utf8')).toBe('ldk_1\n');
    if (process.platform !== 'win32') expect(statSync(path).mode & 0o777).toBe(0o600);

    // A folder cannot be replaced by a file, and nothing stays beside it.
    const taken = join(folder, 'taken');
    mkdirSync(join(taken, 'token.txt'), { recursive: true });
    const refused = callBridge<boolean>(shell, 'saveText', secret);
    await shell.event('file-dialog', 3);
    await shell.happen({ do: 'choose-path', path: join(taken, 'token.txt') });
    expect((await refused).error).toMatch(/EISDIR|EPERM|EEXIST|ENOTEMPTY/u);
    expect(readdirSync(taken)).toEqual(['token.txt']);

    const failing = callBridge<boolean>(shell, 'saveText', secret);
    await shell.event('file-dialog', 4);
    await shell.happen({ do: 'choose-path', path: join(folder, 'no', 'such', 'folder.txt') });
    expect((await failing).error).toContain('ENOENT');
    expect((await callBridge(shell, 'saveText', 'ldk_1')).error).toContain('name and text');
  });
});

describe('preferences', () => {
  test('are stored for the next start, and rejected if they cannot be', async () => {
    const shell = await opened();
    const defaults = (await callBridge<Preferences>(shell, 'readPreferences')).reply;
    expect(defaults).toEqual({
      start_at_login: false,
      keep_in_tray: true,
      keep_awake: false,
      notifications: true,
      update_address: null,
    });
    const change = { update_address: 'https://updates.lan/license-desk/' };
    expect((await callBridge(shell, 'changePreferences', change)).reply).toEqual({ ...defaults, ...change });
    for (const wrong of [
      { update_address: 'file:///etc' },
      { update_address: 'http://updates.lan/' },
      { keep_in_tray: 'yes' },
      { unknown: true },
      { constructor: true },
    ]) {
      const [[name, value] = []] = Object.entries(wrong);
      expect((await callBridge(shell, 'changePreferences', wrong)).error).toBe(
        `Error invoking remote method 'changePreferences': Error: ${name} cannot be ${String(value)}`,
      );
    }
    await shell.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
    await shell.exited;
    const next = start({ env: announcing, dataDir: shell.dataDir });
    await next.event('shown');
    expect((await callBridge(next, 'readPreferences')).reply).toEqual({ ...defaults, ...change });
  });
});

describe('the computer', () => {
  test('is kept awake while the server runs, if enabled', async () => {
    const shell = await opened();
    expect(shell.count('kept-awake')).toBe(0);
    await callBridge(shell, 'changePreferences', { keep_awake: true });
    expect((await shell.event('kept-awake')).isOn).toBe(true);
    process.kill((await shell.event('forked')).pid, 'SIGKILL');
    expect((await shell.event('kept-awake', 2)).isOn).toBe(false);
    expect((await shell.event('kept-awake', 3)).isOn).toBe(true);
    await callBridge(shell, 'changePreferences', { keep_awake: false });
    expect((await shell.event('kept-awake', 4)).isOn).toBe(false);
  });

  test('that has slept wakes the server, and its end is the app’s', async () => {
    const shell = await opened();
    await shell.happen({ do: 'resume' });
    expect((await shell.event('posted')).type).toBe('wake');
    await shell.happen({ do: 'end-session' }).catch(() => {});
    expect(await shell.exited).toBe(0);
    expect((await shell.event('posted', 2)).type).toBe('stop');
  });
});

describe('the menu', () => {
  test('speaks the language of the system', async () => {
    const shell = await opened({ STAND_IN_LOCALE: 'de-AT' });
    const { items } = await shell.event('menu');
    expect(items.map(({ label }) => label)).toEqual(
      expect.arrayContaining(['Datenverzeichnis anzeigen', 'Ausschneiden', 'Vollbild ein/aus', 'Minimieren']),
    );
    expect(items.filter(({ label }) => label.startsWith('English'))).toEqual([]);
    await shell.happen({ do: 'click-menu', id: 'show-data-directory' });
    expect((await shell.event('opened')).what).toBe(shell.dataDir);
    await shell.happen({ do: 'click-menu', id: 'api-reference' });
    expect((await shell.event('opened', 2)).what).toBe('http://127.0.0.1:2/docs/');
    await shell.happen({ do: 'click-menu', id: 'third-party-licenses' });
    expect((await shell.event('load', 2)).url).toBe(`${PAGE}#/settings?tab=about`);
  });

  test('speaks it on macOS as well, whose menu has more items', async () => {
    const shell = await opened({ STAND_IN_LOCALE: 'de-AT', STAND_IN_PLATFORM: 'darwin' });
    const { items } = await shell.event('menu');
    expect(items.map(({ label }) => label)).toContain('License Desk ausblenden');
    expect(items.filter(({ label }) => label.startsWith('English'))).toEqual([]);
  });

  test('looks for updates only with an update address and in an installed app', async () => {
    const shell = await opened();
    await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
    expect((await shell.event('message-box')).message).toContain('No update address is set');
    await shell.happen({ do: 'press-button', button: 0 });
    await callBridge(shell, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
    await shell.happen({ do: 'click-menu', id: 'check-for-updates' });
    expect((await shell.event('message-box', 2)).message).toBe('Only an installed app can be updated.');
  });
});

describe('a right-click', () => {
  test('on a field offers what can be done there, where it was made', async () => {
    const shell = await opened();
    const can = ['canUndo', 'canPaste', 'canSelectAll'];
    await shell.happen({ do: 'right-click', isEditable: true, selectionText: '', can });
    const { items, x, y } = await shell.event('popup');
    expect([x, y]).toEqual([7, 9]);
    expect(items.filter(({ enabled }) => enabled).map(({ label }) => label)).toEqual([
      'Undo',
      'Paste',
      'Select All',
    ]);
    expect(items.filter(({ enabled }) => !enabled).map(({ label }) => label)).toEqual([
      'Redo',
      'Cut',
      'Copy',
      'Delete',
    ]);
  });

  test('on selected text offers to copy it, and opens nothing elsewhere', async () => {
    const shell = await opened({ STAND_IN_LOCALE: 'de-AT' });
    await shell.happen({ do: 'right-click', isEditable: false, selectionText: '', can: ['canSelectAll'] });
    await shell.happen({ do: 'right-click', isEditable: false, selectionText: 'ABC', can: ['canCopy'] });
    const { items } = await shell.event('popup');
    expect(items).toEqual([{ id: '', label: 'Kopieren', enabled: true, checked: false }]);
    expect(shell.count('popup')).toBe(1);
  });
});
