// `kill -9` at any moment of a daily backup: nothing half-written counts as a backup, the next start removes what is left
// of it, and the next backup is complete.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { PASSPHRASE, restore } from '../helpers/backup-file.ts';
import { selectRows } from '../helpers/database.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { roundsOr } from '../helpers/long-lane.ts';
import { type ServerProcess, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const ROUNDS = roundsOr(1);
/** Enough for a database of a few megabytes, so that kills also meet the middle of the file. */
const LICENSES = 1000;
const KEEP = 2;
/** The golden ratio spreads any number of kills evenly, and never twice over the same moment. */
const SPREAD = (Math.sqrt(5) - 1) / 2;

const dataDir = temporaryDirectory();
const place = temporaryDirectory();
const folder = join(place, 'backups');
const passphraseFile = join(place, 'passphrase.txt');
const flags = {
  'backup-schedule': 'daily',
  'backup-folder': folder,
  'backup-keep': String(KEEP),
  'backup-passphrase-file': passphraseFile,
};
const serve = () => startServerProcess({ dataDir, flags });

beforeAll(() => {
  mkdirSync(folder);
  writeFileSync(passphraseFile, PASSPHRASE);
});

/** Where a backup writes: first the copy of the database, then the archive. Most kills would meet the copy. */
const WRITTEN_TO = [folder, dataDir];

/** @returns how many changes a complete backup makes in each place */
async function changesOfOne({ admin }: ServerProcess): Promise<number[]> {
  const changes = WRITTEN_TO.map(() => 0);
  const watchers = WRITTEN_TO.map((directory, index) =>
    watch(directory, () => (changes[index] = (changes[index] ?? 0) + 1)),
  );
  await admin.runBackup({});
  for (const watcher of watchers) watcher.close();
  return changes;
}

/** Kills the server during a backup, as soon as it has changed the place that many times. */
async function killAfter(server: ServerProcess, directory: string, changes: number): Promise<void> {
  let left = changes;
  const watcher = watch(directory, () => {
    left -= 1;
    if (left === 0) void server.kill('SIGKILL');
  });
  // It may be done before the kill.
  await server.admin.runBackup({}).catch(() => {});
  await server.kill('SIGKILL');
  watcher.close();
}

async function issue({ admin }: ServerProcess, count: number): Promise<void> {
  const lines = ['holder', ...Array.from({ length: count }, () => 'Kept')];
  const { import_id } = await admin.uploadImport({ file: new Blob([lines.join('\n')]) });
  expect(await admin.runImport({ import_id, mapping: { holder: 'holder' } })).toMatchObject({
    state: 'done',
  });
}

/** Restores the file into a new data directory. @returns how many licenses are in it */
async function licensesIn(file: string): Promise<number> {
  const target = await keptDataDir();
  const { preview } = await restore(file, target, { passphrase: PASSPHRASE });
  expect(preview.authenticated).toBe(true);
  expect(await selectRows(target, 'PRAGMA integrity_check')).toEqual([{ integrity_check: 'ok' }]);
  const [{ count }] = (await selectRows(target, 'SELECT count(*) AS count FROM licenses')) as [
    { count: number },
  ];
  expect(count).toBe(preview.counts.licenses);
  return count;
}

const TEMPORARY = /\.(?:part|tmp)$|^backup-copy/u;
const leftovers = () =>
  [...readdirSync(dataDir), ...readdirSync(folder)].filter((name) => TEMPORARY.test(name));

it('leaves only complete backups through kills', async () => {
  let server = await serve();
  await issue(server, LICENSES);
  const changes = await changesOfOne(server);
  let licenses = LICENSES;
  const leftBehind = new Set<string>();
  /** Restored before, and not changed since. */
  const known = new Map<string, number>([[readdirSync(folder)[0] ?? '', licenses]]);
  /** Whether kills met the copy and the archive: on a busy machine, some come too late. */
  const metBoth = () => leftBehind.has('.db') && leftBehind.has('.part');
  for (let round = 1; round <= ROUNDS || !metBoth(); round += 1) {
    await issue(server, 1);
    licenses += 1;
    const index = round % WRITTEN_TO.length;
    const moment = Math.ceil((changes[index] ?? 0) * ((round * SPREAD) % 1));
    await killAfter(server, WRITTEN_TO[index] ?? '', moment);
    for (const name of leftovers()) leftBehind.add(name.replace(/^.*\./u, '.'));

    server = await serve();
    const { files, folder_problem: problem } = await server.admin.showRestore({});
    expect(problem).toBeNull();
    expect(files.length).toBeGreaterThan(0);
    for (const { name } of files) {
      if (!known.has(name)) known.set(name, await licensesIn(join(folder, name)));
      expect(known.get(name), name).toBeLessThanOrEqual(licenses);
    }
    const { last } = await server.admin.showBackups({});
    expect(files.map(({ name }) => join(folder, name))).toContain(last?.path);

    const done = await server.admin.runBackup({});
    expect(done).toMatchObject({ running: false, failure: null });
    expect(await licensesIn(done.last?.path ?? '')).toBe(licenses);
    expect(leftovers()).toEqual([]);
    expect(readdirSync(folder).length).toBeLessThanOrEqual(KEEP);
  }
  expect((await server.kill()).code).toBe(0);
});

it('a start removes unfinished files of processes that no longer run', async () => {
  const { pid: dead } = spawnSync(process.execPath, ['--version']);
  const [left, inUse] = [dead, process.pid].map((pid) => join(dataDir, `sessions.json.${pid}.tmp`));
  for (const file of [left, inUse]) writeFileSync(file ?? '', '{');
  const server = await serve();
  expect([left, inUse].map((file) => existsSync(file ?? ''))).toEqual([false, true]);
  expect((await server.kill()).code).toBe(0);
});
