// The master key of the desktop app: sealed, moved from and to a headless server, and never lost on the way.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { startTestServer } from '../helpers/test-server.ts';
import type { Shell } from './shell.ts';
import { startingShells } from './starting-shells.ts';

const start = startingShells();
const announcing = { STAND_IN_SERVER: import.meta.resolve('./announcing-server.ts') };
const PASSPHRASE = 'correct horse battery';
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'license-desk-key-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const keyFile = () => join(dataDir, 'master.key');
const sealedFile = () => join(dataDir, 'master-key.sealed');

async function quit(shell: Shell): Promise<void> {
  await shell.happen({ do: 'click-tray', id: 'quit' }).catch(() => {});
  expect(await shell.exited).toBe(0);
}

/** Whether any file of the data directory holds these bytes. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  return files.some((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text));
}

async function viewOf(shell: Shell, window: number): Promise<Record<string, unknown>> {
  const { url: senderUrl } = await shell.eventThat('load', ({ id }) => id === window);
  const call = { do: 'call-bridge', window, method: 'shellView', senderUrl } as const;
  return ((await shell.happen(call)) as { reply: Record<string, unknown> }).reply;
}

test('a new directory gets a key that only the keychain can open', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/u);
  expect(existsSync(keyFile())).toBe(false);
  expect(isOnDisk(key ?? '')).toBe(false);
  await quit(first);
  const second = start({ dataDir, env: announcing });
  expect((await second.event('forked')).key).toBe(key);
});

test('a headless data directory moves into the app, and back', async () => {
  const headless = await startTestServer({ dataDir });
  await headless.admin.createPlan({ name: 'moved', max_activations: 2 });
  await headless.stop();
  const key = readFileSync(keyFile(), 'utf8').trim();

  const shell = start({ dataDir });
  expect((await shell.event('forked')).key).toBe(key);
  const { url } = await shell.event('load');
  expect((await fetch(new URL('/', url))).status).toBe(200);
  expect(existsSync(keyFile())).toBe(false);
  expect(isOnDisk(key)).toBe(false);
  await quit(shell);

  // Not without the key: neither started, nor with a new one.
  const refused = spawnSync(
    process.execPath,
    ['out/main/cli.js', 'serve', '--data-dir', dataDir, '--port=0', '--admin-port=0'],
    { encoding: 'utf8' },
  );
  expect(refused.status).not.toBe(0);
  expect(refused.stderr).toContain('the desktop app keeps the key sealed');

  const again = start({ dataDir, env: announcing });
  await again.event('shown');
  await again.happen({ do: 'click-menu', id: 'write-key-file' });
  expect((await again.event('message-box')).detail).toContain(keyFile());
  await again.happen({ do: 'press-button', button: 0 }).catch(() => {});
  expect(await again.exited).toBe(0);
  expect(readFileSync(keyFile(), 'utf8').trim()).toBe(key);

  const back = await startTestServer({ dataDir });
  const { plans } = await back.admin.listPlans({});
  expect(plans.map(({ name }) => name)).toContain('moved');
  await back.stop();
});

test('a key that somebody puts into the directory is the newer truth, and the old one is kept', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  await quit(first);
  const restored = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(keyFile(), `${restored}\n`);
  const second = start({ dataDir, env: announcing });
  expect((await second.event('forked')).key).toBe(restored);
  await quit(second);
  expect(existsSync(keyFile())).toBe(false);
  const kept = readdirSync(dataDir).filter((name) => name.startsWith('master-key.sealed.before-'));
  expect(kept).toHaveLength(1);
  expect(readFileSync(join(dataDir, kept[0] ?? ''), 'utf8')).toContain('"sealed_by": "keychain"');
  expect(key).not.toBe(restored);
});

test('a keychain that does not open it is told of, and nothing is made anew', async () => {
  const first = start({ dataDir, env: announcing });
  await first.event('forked');
  await quit(first);
  const sealed = readFileSync(sealedFile());
  const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'locked' } });
  expect(await viewOf(shell, 1)).toMatchObject({
    title: 'The master key cannot be opened',
    reason: expect.stringContaining('the keychain is locked'),
  });
  expect(shell.count('forked')).toBe(0);
  await shell.answerShell(1, { kind: 'failure', action: 'quit' });
  expect(await shell.exited).toBe(0);
  expect(readFileSync(sealedFile())).toEqual(sealed);
});

test('without a keychain it is sealed under a passphrase, which each start asks for', async () => {
  const env = { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' };
  const first = start({ dataDir, env });
  expect(await viewOf(first, 1)).toMatchObject({ title: 'A passphrase for the master key' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: 'short', again: 'short' });
  await first.event('sent');
  expect(await viewOf(first, 1)).toMatchObject({ problem: 'At least 12 characters.' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: 'another one' });
  await first.event('sent', 2);
  expect(await viewOf(first, 1)).toMatchObject({ problem: 'These are not the same.' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: PASSPHRASE });
  const { key } = await first.event('forked');
  expect(isOnDisk(key ?? '')).toBe(false);
  expect(isOnDisk(PASSPHRASE)).toBe(false);
  // A server that is started again does not ask again.
  process.kill((await first.event('forked')).pid, 'SIGKILL');
  expect((await first.event('forked', 2)).key).toBe(key);
  await quit(first);

  const second = start({ dataDir, env });
  expect(await viewOf(second, 1)).toMatchObject({ title: 'The passphrase of the master key', again: null });
  await second.answerShell(1, { kind: 'passphrase', passphrase: 'not this one', again: '' });
  await second.event('sent', 2);
  expect(await viewOf(second, 1)).toMatchObject({ problem: 'This is not the passphrase.' });
  await second.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: '' });
  expect((await second.event('forked')).key).toBe(key);
});

test('without a keychain it may also stay in a file, which is asked once', async () => {
  const env = { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' };
  const key = Buffer.alloc(32, 9).toString('base64');
  writeFileSync(keyFile(), `${key}\n`, { mode: 0o600 });
  const first = start({ dataDir, env });
  await first.answerShell(1, { kind: 'instead' });
  expect((await first.event('forked')).key).toBe(key);
  expect(readFileSync(keyFile(), 'utf8').trim()).toBe(key);
  await quit(first);
  const second = start({ dataDir, env });
  expect((await second.event('forked')).key).toBe(key);
  expect(second.count('window')).toBeLessThanOrEqual(1);
});

test('closing the question is no answer', async () => {
  const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' } });
  await shell.event('shown');
  await shell.happen({ do: 'close-window' });
  expect(await viewOf(shell, 2)).toMatchObject({ reason: 'no passphrase was chosen' });
  expect(shell.count('forked')).toBe(0);
  expect(existsSync(keyFile())).toBe(false);
});

test('a key of the environment is used as it is, and kept nowhere', async () => {
  const key = Buffer.alloc(32, 3).toString('base64');
  const shell = start({ dataDir, env: { ...announcing, LICENSE_DESK_MASTER_KEY: key } });
  expect((await shell.event('forked')).key).toBe(key);
  expect(existsSync(sealedFile())).toBe(false);
  expect(existsSync(keyFile())).toBe(false);
});
