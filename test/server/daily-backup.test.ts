// The daily backup of a running server: what it writes and removes, and what goes wrong.
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { diagnose } from '#server/process/diagnose.ts';
import { loadConfig } from '#server/platform/config.ts';
import { PASSPHRASE, requestBackup, restore } from '../helpers/backup-file.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { mountSmallDisk, type SmallDisk } from '../helpers/small-disk.ts';
import { startTestServer, type TestServer } from '../helpers/test-server.ts';
import { createTestClock } from '../helpers/test-clock.ts';

const DAY_MS = 86_400_000;
const clock = createTestClock();
const dataDir = temporaryDirectory();
const place = temporaryDirectory();
const folder = join(place, 'backups');
const passphraseFile = join(place, 'passphrase.txt');
const disk = mountSmallDisk(16);
if (typeof disk === 'string') process.stderr.write(`daily-backup.test.ts skips one test: ${disk}\n`);

const flags = {
  'backup-schedule': 'daily',
  'backup-folder': folder,
  'backup-keep': '1',
  'backup-passphrase-file': passphraseFile,
};
let server: TestServer;

beforeAll(async () => {
  writeFileSync(passphraseFile, `${PASSPHRASE}\n`);
  server = await startTestServer({ dataDir, clock, flags });
  return () => server.stop();
});

const backups = () => readdirSync(folder).filter((name) => name.endsWith('.ldbackup'));
const alerts = async () => (await server.admin.listAlerts({})).alerts;
const audited = async (action: string) => (await server.admin.listAudit({ action, limit: 50 })).items;

describe('the daily backup', () => {
  it('is due at once, and its settings say where and when', async () => {
    expect(await server.admin.showBackups({})).toMatchObject({
      schedule: 'daily',
      hour: 3,
      time_zone: Intl.DateTimeFormat().resolvedOptions().timeZone,
      folder,
      keep: 1,
      encrypted: true,
      running: false,
      last: null,
      failure: null,
      next_at: new Date(clock.now()).toISOString(),
    });
  });

  it('creates the folder and writes one file, which is verified and can be restored', async () => {
    const { license_key } = await newLicense(server);
    // The second caller gets the same backup.
    const [first, second] = await Promise.all([server.admin.runBackup({}), server.admin.runBackup({})]);
    expect(second).toEqual(first);
    const [name] = backups();
    expect(readdirSync(folder)).toEqual([name]);
    expect(name).toMatch(/^license-desk-\d{8}T\d{6}Z\.ldbackup$/u);
    const path = join(folder, name as string);
    expect(first.last).toMatchObject({ path, bytes: readFileSync(path).length, encrypted: true });
    expect(Date.parse(first.next_at as string)).toBeGreaterThan(clock.now());
    expect(await audited('backup.made')).toMatchObject([
      { actor_name: 'tester', after: { file: path, encrypted: true } },
    ]);
    const { preview } = await restore(path, await keptDataDir(), { passphrase: PASSPHRASE });
    expect(preview.counts.licenses).toBe(1);
    expect(preview.authenticated).toBe(true);
    expect(license_key).not.toBe('');
    expect(existsSync(join(dataDir, 'backup-copy-daily.db'))).toBe(false);
    expect(JSON.stringify(await server.admin.showSettings({}))).not.toContain(PASSPHRASE);
  });

  it('passes the check of doctor with a new folder, which the next one creates', async () => {
    const elsewhere = join(place, 'elsewhere');
    const given = { 'data-dir': dataDir, ...flags, 'backup-folder': elsewhere };
    const findings = await diagnose(loadConfig({ flags: given, env: {} }));
    expect(findings.find(({ check }) => check === 'backup')).toMatchObject({
      ok: true,
      detail: expect.stringContaining(`daily to ${elsewhere}`) as string,
    });
  });

  it('removes its oldest backups and no other file', async () => {
    const [first] = backups();
    const others = ['license-desk-20200101T000000Z.ldbackup', 'notes.txt'];
    for (const name of others) writeFileSync(join(folder, name), 'not from here');
    await server.admin.runBackup({});
    const replaced = backups().find((name) => !others.includes(name));
    expect(replaced).not.toBe(first);
    // Replaced by a file that the server did not write.
    writeFileSync(join(folder, replaced as string), 'replaced');
    await server.admin.runBackup({});
    const left = readdirSync(folder);
    expect(left).toEqual(expect.arrayContaining([...others, replaced]));
    expect(left).not.toContain(first);
    expect(left).toHaveLength(others.length + 2);
  });

  it('cleans up after a process that was killed while it wrote', async () => {
    const file = join(dataDir, 'backup-folder.json');
    const record = JSON.parse(readFileSync(file, 'utf8')) as { files: { path: string }[] };
    const draft = join(folder, '.license-desk-killed.part');
    writeFileSync(draft, 'half');
    // Killed after the rename: the newest file is complete, but not in the list.
    const { files } = record;
    const newest = files.at(-1);
    writeFileSync(
      file,
      JSON.stringify({ ...record, files: files.slice(0, -1), writing: { draft, file: newest } }),
    );
    await server.admin.runBackup({});
    expect(existsSync(draft)).toBe(false);
    const after = JSON.parse(readFileSync(file, 'utf8')) as typeof record & { writing: unknown };
    expect(after.writing).toBeNull();
    // It was known again, and the oldest.
    expect(existsSync(newest?.path as string)).toBe(false);
  });

  it('goes on in a new folder while the unfinished file in an old one cannot be removed', async () => {
    const file = join(dataDir, 'backup-folder.json');
    const read = () => JSON.parse(readFileSync(file, 'utf8')) as { files: object[]; writing: unknown };
    const old = join(place, 'read-only');
    const draft = join(old, '.license-desk-killed.part');
    // Removing a directory fails for every user, root included, as removing a file on a read-only disk does.
    mkdirSync(draft, { recursive: true });
    const record = read();
    const lost = { ...(record.files.at(-1) as object), path: join(old, 'lost.ldbackup') };
    writeFileSync(file, JSON.stringify({ ...record, writing: { draft, file: lost } }));
    const before = (await server.admin.showBackups({})).last;
    const { last, failure } = await server.admin.runBackup({});
    expect({ failure, isNew: last?.path !== before?.path }).toEqual({ failure: null, isNew: true });
    expect(read().writing).toBeNull();
    // Later it can be.
    rmSync(draft, { recursive: true });
    writeFileSync(draft, 'half');
    await server.admin.runBackup({});
    expect(readdirSync(old)).toEqual([]);
  });

  it('fails with the reason while the folder is gone, and is made up for later', async () => {
    const before = (await server.admin.showBackups({})).last;
    const hidden = join(place, 'unplugged');
    renameSync(folder, hidden);
    const message = `the backup folder ${folder} is missing; check that its disk is connected, or create the folder`;
    for (let count = 0; count < 2; count += 1)
      await expect(server.admin.runBackup({})).rejects.toMatchObject({ code: 'unavailable', message });
    const status = await server.admin.showBackups({});
    expect(status).toMatchObject({
      last: before,
      failure: { attempts: 2, problem: 'folder_missing', message },
    });
    expect(Date.parse(status.next_at as string)).toBeLessThanOrEqual(Date.now() + 600_000);
    expect(await alerts()).toMatchObject([
      { code: 'backup_failed', severity: 'critical', params: { problem: 'folder_missing', folder } },
    ]);
    // One entry for all attempts.
    expect(await audited('backup.failed')).toMatchObject([{ after: { problem: 'folder_missing' } }]);
    await expect
      .poll(() => readFileSync(join(dataDir, 'logs', 'license-desk.1.log'), 'utf8'))
      .toContain('backup failed: the backup folder');
    const config = loadConfig({ flags: { 'data-dir': dataDir, ...flags }, env: {} });
    const finding = (await diagnose(config)).find(({ check }) => check === 'backup');
    expect(finding).toMatchObject({ ok: false, detail: expect.stringContaining(message) as string });
    await newLicense(server);

    renameSync(hidden, folder);
    await server.admin.runBackup({});
    expect((await server.admin.showBackups({})).failure).toBeNull();
    expect(await alerts()).toEqual([]);
  });

  it('names an unusable passphrase file', async () => {
    writeFileSync(passphraseFile, 'short');
    await expect(server.admin.runBackup({})).rejects.toMatchObject({
      message: `the passphrase file ${passphraseFile} cannot be used: it must contain 12 to 1000 characters (got 5)`,
    });
    writeFileSync(passphraseFile, 'drei Züge nach Köln', 'latin1');
    await expect(server.admin.runBackup({})).rejects.toMatchObject({
      message: `the passphrase file ${passphraseFile} cannot be used: it is not UTF-8 text`,
    });
  });

  it('comes by itself after the start, if it is due', async () => {
    await server.stop();
    writeFileSync(passphraseFile, PASSPHRASE);
    clock.set(Date.now() + DAY_MS);
    server = await startTestServer({ dataDir, clock, flags, settleMs: 1 });
    await expect
      .poll(async () => (await audited('backup.made'))[0])
      .toMatchObject({ actor_kind: 'system', actor_name: 'backup' });
  });

  it('is missed after a week, unless one is downloaded', async () => {
    await server.stop();
    clock.set(Date.now() + 9 * DAY_MS);
    server = await startTestServer({ dataDir, clock });
    expect(await alerts()).toMatchObject([{ code: 'backup_overdue', params: { days: 9 } }]);
    await (await requestBackup(server)).arrayBuffer();
    expect(await alerts()).toEqual([]);
    expect((await server.admin.showBackups({})).last).toMatchObject({ path: null, encrypted: false });
    await expect(server.admin.runBackup({})).rejects.toMatchObject({
      message: 'backup_folder is not set; set it to a folder on another disk, and restart the server',
    });
  });
});

it('settings that cannot work are refused with the same words everywhere', async () => {
  const inside = join(dataDir, 'backups');
  const within = `--backup-folder is ${JSON.stringify(inside)}, but must be outside of the data directory ${dataDir}, which a failed disk would take along; use a folder on another disk`;
  const daily =
    '--backup-schedule is "daily", but --backup-folder is not set; set it to a folder on another disk';
  const update = (changes: Record<string, string>) => server.admin.updateSettings({ changes });
  await expect(update({ backup_folder: inside })).rejects.toMatchObject({
    details: [{ path: 'backup_folder', message: within }],
  });
  await expect(update({ backup_schedule: 'daily' })).rejects.toMatchObject({
    details: [{ path: 'backup_schedule', message: daily }],
  });
  await expect(update({ backup_folder: 'backups' })).rejects.toMatchObject({
    details: [{ path: 'backup_folder', message: 'must be an absolute path' }],
  });
  const missing = join(place, 'no-passphrase.txt');
  await expect(update({ backup_passphrase_file: missing })).rejects.toMatchObject({
    details: [
      {
        path: 'backup_passphrase_file',
        message: expect.stringContaining(`the passphrase file ${missing} cannot be used`) as string,
      },
    ],
  });
  const start = (given: Record<string, string>) =>
    startTestServer({ dataDir: temporaryDirectory(), flags: given });
  await expect(start({ 'backup-schedule': 'daily' })).rejects.toThrow(daily);
  await expect(
    update({ backup_folder: folder, backup_schedule: 'daily', backup_hour: '4' }),
  ).resolves.toMatchObject({ config_problem: null });
});

it.skipIf(typeof disk === 'string')('a full disk fails the backup and nothing else', async () => {
  const { path, fill, free, unmount } = disk as SmallDisk;
  onTestFinished(unmount);
  const full = join(path, 'backups');
  mkdirSync(full);
  const other = await startTestServer({ flags: { 'backup-schedule': 'daily', 'backup-folder': full } });
  onTestFinished(() => other.stop());
  fill();
  await expect(other.admin.runBackup({})).rejects.toMatchObject({
    code: 'unavailable',
    message: expect.stringMatching(
      /^not enough disk space in .+: \d+ bytes needed, 0 bytes free$/u,
    ) as string,
  });
  expect(readdirSync(full)).toEqual([]);
  expect((await other.admin.listAlerts({})).alerts).toMatchObject([
    { code: 'backup_failed', params: { problem: 'folder_full' } },
  ]);
  await newLicense(other);
  free();
  expect((await other.admin.runBackup({})).failure).toBeNull();
  rmSync(join(path, 'backups'), { recursive: true });
});

it.skipIf(typeof disk === 'string')(
  'a folder that the systemd unit closes is refused with what opens it',
  async () => {
    const { path, unmount } = mountSmallDisk(1) as SmallDisk;
    onTestFinished(unmount);
    execFileSync('mount', ['-o', 'remount,ro', path]);
    vi.stubEnv('NOTIFY_SOCKET', '/run/systemd/notify');
    onTestFinished(() => void vi.unstubAllEnvs());
    const closed = join(path, 'backups');
    const message =
      `the backup folder ${closed} is not writable: EROFS: read-only file system, access '${path}'; ` +
      'if its disk is writable, create the folder for the user of the service, add [Service] and ' +
      `ReadWritePaths=-${closed} with \`systemctl edit license-desk\`, and restart the service`;
    const flagsOfOther = { 'backup-schedule': 'daily', 'backup-folder': closed };
    const other = await startTestServer({ flags: flagsOfOther });
    onTestFinished(() => other.stop());
    await expect(other.admin.runBackup({})).rejects.toMatchObject({ code: 'unavailable', message });
    await expect(server.admin.updateSettings({ changes: { backup_folder: closed } })).rejects.toMatchObject({
      details: [{ path: 'backup_folder', message }],
    });
  },
);

it('keeps the backups of an installation that was lost when a new one takes its place', async () => {
  const lost = temporaryDirectory();
  const into = join(temporaryDirectory(), 'backups');
  const options = { dataDir: lost, flags: { 'backup-folder': into, 'backup-keep': '1' } };
  const before = await startTestServer(options);
  const { last } = await before.admin.runBackup({});
  await before.stop();
  rmSync(join(lost, 'license-desk.db'));
  const after = await startTestServer({ ...options, newInstallation: true });
  expect((await after.admin.showBackups({})).last).toBeNull();
  await after.admin.runBackup({});
  expect(existsSync(last?.path as string)).toBe(true);
  await after.stop();
});
