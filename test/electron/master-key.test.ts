// The master key of the desktop app: sealed, moved from and to a headless server, and never lost.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import { saveBackup, uploadBackup } from '../helpers/backup-file.ts';
import { startTestServer } from '../helpers/test-server.ts';
import { announcing, quit, startingShells, viewOf } from './starting-shells.ts';

const start = startingShells();
const PASSPHRASE = 'correct horse battery';
let dataDir: string;

beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'license-desk-key-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

const keyFile = () => join(dataDir, 'master.key');
const sealedFile = () => join(dataDir, 'master-key.sealed');

/** Whether any file of the data directory contains these bytes. */
function isOnDisk(text: string): boolean {
  const files = readdirSync(dataDir, { recursive: true, withFileTypes: true });
  return files.some((file) => file.isFile() && readFileSync(join(file.parentPath, file.name)).includes(text));
}

test('a new directory gets a key that only the keychain can open', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  expect(key).toMatch(/^[A-Za-z0-9+/]{43}=$/u);
  expect(existsSync(keyFile())).toBe(false);
  expect(isOnDisk(key ?? '')).toBe(false);
  expect(await quit(first)).toBe(0);
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
  expect(await quit(shell)).toBe(0);

  // Without the key, the server neither starts nor gets a new one.
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

test('a key file copied to the directory replaces the sealed key, and the old one is kept', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  expect(await quit(first)).toBe(0);
  const restored = Buffer.alloc(32, 7).toString('base64');
  writeFileSync(keyFile(), `${restored}\n`);
  const second = start({ dataDir, env: announcing });
  expect((await second.event('forked')).key).toBe(restored);
  expect(await quit(second)).toBe(0);
  expect(existsSync(keyFile())).toBe(false);
  const kept = readdirSync(dataDir).filter((name) => name.startsWith('master-key.sealed.before-'));
  expect(kept).toHaveLength(1);
  expect(readFileSync(join(dataDir, kept[0] ?? ''), 'utf8')).toContain('"sealed_by": "keychain"');
  expect(key).not.toBe(restored);
});

test('the backup of a lost computer is restored in the app, with its key', async () => {
  const lost = await startTestServer();
  await lost.admin.createPlan({ name: 'from-the-lost-computer' });
  const backup = join(dataDir, 'lost.ldbackup');
  await saveBackup(lost, backup, PASSPHRASE);
  const key = readFileSync(join(lost.dataDir, 'master.key'), 'utf8').trim();
  await lost.stop();

  const shell = start({ dataDir });
  const first = await shell.event('forked');
  await shell.event('load');
  const { admin, ...office } = backOfficeOf(dataDir);
  expect((await uploadBackup(office, readFileSync(backup))).status).toBe(200);
  const { restore_id } = await admin.previewRestore({ kind: 'upload', passphrase: PASSPHRASE });
  expect(await admin.confirmRestore({ restore_id })).toMatchObject({ restarting: true });
  const { key: restored } = await shell.eventThat('forked', (fork) => fork.key !== first.key);
  expect(restored).toBe(key);
  await shell.event('load', 2);
  const { plans } = await backOfficeOf(dataDir).admin.listPlans({});
  expect(plans.map(({ name }) => name)).toContain('from-the-lost-computer');
  expect(existsSync(keyFile())).toBe(false);
  expect(isOnDisk(key)).toBe(false);
});

test('a keychain that cannot open the key is reported, and no new key is created', async () => {
  const first = start({ dataDir, env: announcing });
  await first.event('forked');
  expect(await quit(first)).toBe(0);
  const sealed = readFileSync(sealedFile());
  const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'locked' } });
  expect(await viewOf(shell, 1)).toMatchObject({
    title: 'Cannot open the master key',
    reason: expect.stringContaining('Error while decrypting the ciphertext'),
  });
  expect(shell.count('forked')).toBe(0);
  await shell.answerShell(1, { kind: 'action', action: 'quit' });
  expect(await shell.exited).toBe(0);
  expect(readFileSync(sealedFile())).toEqual(sealed);
});

test('without a keychain, the key is sealed under a passphrase, and each start asks for it', async () => {
  const env = { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' };
  const first = start({ dataDir, env });
  expect(await viewOf(first, 1)).toMatchObject({ title: 'Protect the master key' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: 'short', again: 'short' });
  await first.event('sent');
  expect(await viewOf(first, 1)).toMatchObject({ problem: 'Use at least 12 characters.' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: 'another one' });
  await first.event('sent', 2);
  expect(await viewOf(first, 1)).toMatchObject({ problem: 'The passphrases do not match.' });
  await first.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: PASSPHRASE });
  const { key } = await first.event('forked');
  expect(isOnDisk(key ?? '')).toBe(false);
  expect(isOnDisk(PASSPHRASE)).toBe(false);
  // A restarted server does not ask again.
  process.kill((await first.event('forked')).pid, 'SIGKILL');
  expect((await first.event('forked', 2)).key).toBe(key);
  expect(await quit(first)).toBe(0);

  const second = start({ dataDir, env });
  expect(await viewOf(second, 1)).toMatchObject({ title: 'Unlock the master key', again: null });
  await second.answerShell(1, { kind: 'passphrase', passphrase: 'not this one', again: '' });
  await second.event('sent', 2);
  expect(await viewOf(second, 1)).toMatchObject({ problem: 'Wrong passphrase.' });
  await second.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: '' });
  expect((await second.event('forked')).key).toBe(key);
});

test('without a keychain, the key can stay in a file, and the question is asked once', async () => {
  const env = { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' };
  const key = Buffer.alloc(32, 9).toString('base64');
  writeFileSync(keyFile(), `${key}\n`, { mode: 0o600 });
  const first = start({ dataDir, env });
  await first.answerShell(1, { kind: 'instead' });
  expect((await first.event('forked')).key).toBe(key);
  expect(readFileSync(keyFile(), 'utf8').trim()).toBe(key);
  expect(await quit(first)).toBe(0);
  const second = start({ dataDir, env });
  expect((await second.event('forked')).key).toBe(key);
  expect(second.count('window')).toBeLessThanOrEqual(1);
});

test('closing the question does not count as an answer', async () => {
  const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'basic_text' } });
  await shell.event('shown');
  await shell.happen({ do: 'close-window' });
  expect(await viewOf(shell, 2)).toMatchObject({ reason: 'no passphrase was entered' });
  expect(shell.count('forked')).toBe(0);
  expect(existsSync(keyFile())).toBe(false);
});

test('a key from the environment is used and stored nowhere', async () => {
  const key = Buffer.alloc(32, 3).toString('base64');
  const shell = start({ dataDir, env: { ...announcing, LICENSE_DESK_MASTER_KEY: key } });
  expect((await shell.event('forked')).key).toBe(key);
  expect(existsSync(sealedFile())).toBe(false);
  expect(existsSync(keyFile())).toBe(false);
});

const sealedContent = () =>
  JSON.parse(readFileSync(sealedFile(), 'utf8')) as { sealed_by: string; sealed: string };
const sealedVersion = () => Buffer.from(sealedContent().sealed, 'base64').subarray(0, 3).toString();

/** As an earlier version of the app left it: `v10`, a nonce, and what the constant makes of the key. */
function sealPublicly(key: string): string {
  const weak = Buffer.from([...Buffer.from(key)].map((byte) => byte ^ 0x2f));
  const sealed = Buffer.concat([Buffer.from('v10'), Buffer.alloc(4), weak]).toString('base64');
  writeFileSync(sealedFile(), JSON.stringify({ sealed_by: 'keychain', sealed }));
  return sealed;
}

describe('a Linux desktop', () => {
  test('without a running keyring gets no key sealed by a public constant', async () => {
    const key = Buffer.alloc(32, 5).toString('base64');
    writeFileSync(keyFile(), `${key}\n`, { mode: 0o600 });
    const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'no-keyring' } });
    expect(await viewOf(shell)).toMatchObject({ kind: 'passphrase' });
    expect(readFileSync(keyFile(), 'utf8').trim()).toBe(key);
    await shell.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: PASSPHRASE });
    expect((await shell.event('forked')).key).toBe(key);
    expect(sealedContent().sealed_by).toBe('passphrase');
  });

  test('that Chromium does not know uses the keyring that works there', async () => {
    const shell = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'unknown-desktop' } });
    await shell.event('forked');
    expect(sealedContent().sealed_by).toBe('keychain');
    expect(sealedVersion()).toBe('v11');
  });

  test('where a public constant sealed the key seals it again, and reports it', async () => {
    const first = start({ dataDir, env: announcing });
    const { key } = await first.event('forked');
    expect(await quit(first)).toBe(0);
    const sealed = sealPublicly(key ?? '');

    const second = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'no-keyring' } });
    const view = (await viewOf(second)) as { kind: string; why: string };
    expect(view.kind).toBe('passphrase');
    expect(view.why).toContain('was not protected');
    await second.answerShell(1, { kind: 'passphrase', passphrase: PASSPHRASE, again: PASSPHRASE });
    expect((await second.event('forked')).key).toBe(key);
    expect(sealedContent().sealed_by).toBe('passphrase');
    expect(isOnDisk(sealed)).toBe(false);
  });

  test('with a working keyring reseals a key that a public constant sealed', async () => {
    const key = Buffer.alloc(32, 6).toString('base64');
    const sealed = sealPublicly(key);
    const shell = start({ dataDir, env: announcing });
    expect((await shell.event('forked')).key).toBe(key);
    expect(sealedVersion()).toBe('v11');
    expect(isOnDisk(sealed)).toBe(false);
    expect((await shell.event('message-box')).message).toContain('was not protected');
  });
});

test('a keychain with a newer key seals the master key again with it', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  expect(await quit(first)).toBe(0);
  const before = readFileSync(sealedFile(), 'utf8');
  const second = start({ dataDir, env: { ...announcing, STAND_IN_KEYCHAIN: 'rotated' } });
  expect((await second.event('forked')).key).toBe(key);
  expect(readFileSync(sealedFile(), 'utf8')).not.toBe(before);
  expect(await quit(second)).toBe(0);
  const third = start({ dataDir, env: announcing });
  expect((await third.event('forked')).key).toBe(key);
});

test('a keychain that is unlocked later is tried by a new start of the app', async () => {
  const first = start({ dataDir, env: announcing });
  const { key } = await first.event('forked');
  expect(await quit(first)).toBe(0);
  const lock = join(dataDir, 'keychain-lock');
  writeFileSync(lock, '');
  const env = { ...announcing, STAND_IN_KEYCHAIN_LOCK: lock };
  const locked = start({ dataDir, env });
  await viewOf(locked);
  rmSync(lock);
  await locked.answerShell(1, { kind: 'action', action: 'try_again' });
  const { args } = await locked.event('relaunch');
  expect(await locked.exited).toBe(0);
  expect(args).toContain(dataDir);
  const next = start({ dataDir, env });
  expect((await next.event('forked')).key).toBe(key);
});

test('Windows and macOS mark what their own keychain sealed as Linux marks the constant', async () => {
  for (const platform of ['win32', 'darwin']) {
    const env = { ...announcing, STAND_IN_PLATFORM: platform };
    const first = start({ dataDir, env });
    const { key } = await first.event('forked');
    expect(sealedVersion()).toBe('v10');
    expect(await quit(first)).toBe(0);
    const second = start({ dataDir, env });
    expect((await second.event('forked')).key).toBe(key);
    expect(second.count('message-box')).toBe(0);
    expect(await quit(second)).toBe(0);
    rmSync(sealedFile());
  }
});
