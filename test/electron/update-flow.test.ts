// New versions: what is asked, and what happens to the server while one is installed.
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { announcing, callBridge, startingShells } from './starting-shells.ts';

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

test('an update is installed after the server has stopped, and the app starts again without a window', async () => {
  const first = start({ env: offering });
  await first.event('shown');
  await callBridge(first, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
  await first.happen({ do: 'click-menu', id: 'check-for-updates' });
  await first.event('message-box');
  await first.happen({ do: 'press-button', button: 0 });
  await first.event('message-box', 2);
  await first.happen({ do: 'press-button', button: 0 }).catch(() => {});
  const install = await first.eventThat('update', ({ step }) => step === 'install');
  expect(install).toMatchObject({ silent: true, relaunch: true, serverRuns: false });
  expect(await first.exited).toBe(0);
});

test('an update starts the app again with the data directory it had, without a window', async () => {
  const first = start({ env: offering });
  await first.event('shown');
  const { appData } = first;
  await callBridge(first, 'changePreferences', { update_address: 'https://127.0.0.1:9/' });
  await first.happen({ do: 'click-menu', id: 'check-for-updates' });
  for (const nth of [1, 2]) {
    await first.event('message-box', nth);
    await first.happen({ do: 'press-button', button: 0 }).catch(() => {});
  }
  expect(await first.exited).toBe(0);

  const env = { ...offering, STAND_IN_APP_DATA: appData, HOME: appData };
  const next = start({ env, hasFlags: false });
  expect((await next.event('forked')).args).toContain(`--data-dir=${first.dataDir}`);
  await next.event('tray', 2);
  expect(next.count('window')).toBe(0);
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
