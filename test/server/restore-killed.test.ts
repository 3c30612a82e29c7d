// A restore that is killed leaves the old installation or the new one, whichever step it had reached. `npm run test:long`
// kills it at every step.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { loadConfig } from '#server/platform/config.ts';
import { tidyDataDirectory } from '#server/wiring/compose-administration.ts';
import { saveBackup } from '../helpers/backup-file.ts';
import { CLI_PROGRAM } from '../helpers/cli.ts';
import { newLicense } from '../helpers/contract-calls.ts';
import { selectRows } from '../helpers/database.ts';
import { snapshotOf } from '../helpers/directory-snapshot.ts';
import { keptDataDir } from '../helpers/kept-data-dir.ts';
import { isLongLane } from '../helpers/long-lane.ts';
import { temporaryDirectory } from '../helpers/server-process.ts';
import { startTestServer } from '../helpers/test-server.ts';

/** More than a restore takes: the last of them lets it finish. */
const MOST_RENAMES = 20;
const STEP = isLongLane ? 1 : 3;
const KILL_AT_RENAME = resolve(import.meta.dirname, '../helpers/kill-at-rename.ts');

const dataDir = temporaryDirectory();
const file = join(temporaryDirectory(), 'backup.tar');
let key: string;

beforeAll(async () => {
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 5 }');
  const server = await startTestServer({ dataDir });
  ({ license_key: key } = await newLicense(server));
  await saveBackup(server, file);
  await newLicense(server);
  await server.stop();
  writeFileSync(join(dataDir, 'config.json'), '{ "scan_seconds": 7 }');
});

/** Each step of a restore from the first one that can be seen is a rename. @returns the signal that ended the command */
async function restoreUntilRename(directory: string, count: number): Promise<NodeJS.Signals | null> {
  const words = ['restore', file, '--accept-unsigned', '--yes', '--json', '--data-dir', directory];
  const command = spawn(process.execPath, ['--import', KILL_AT_RENAME, CLI_PROGRAM, ...words], {
    env: { ...process.env, KILL_AT_RENAME: String(count) },
    stdio: 'ignore',
  });
  const [, signal] = (await once(command, 'exit')) as [number | null, NodeJS.Signals | null];
  return signal;
}

const licensesIn = async (directory: string) =>
  ((await selectRows(directory, 'SELECT license_key FROM licenses')) as { license_key: string }[]).map(
    ({ license_key }) => license_key,
  );

it(isLongLane ? 'at any rename' : 'at some renames', async () => {
  const old = snapshotOf(dataDir);
  const outcomes: string[] = [];
  for (let count = 1; count <= MOST_RENAMES; count += STEP) {
    const directory = await keptDataDir();
    cpSync(dataDir, directory, { recursive: true });
    const signal = await restoreUntilRename(directory, count);
    const isCommitted = existsSync(join(directory, 'restore-ready'));
    // What the next start does first.
    const tidied = tidyDataDirectory(loadConfig({ flags: { 'data-dir': directory }, env: {} }));
    await (isCommitted ? expect(tidied).rejects.toThrow(/start again/iu) : tidied);
    expect(readdirSync(directory).filter((name) => name.startsWith('restore-'))).toEqual([]);
    const isOld = readFileSync(join(directory, 'config.json'), 'utf8').includes('7');
    outcomes.push(isOld ? 'old' : 'new');
    const { 'server.lock-journal': _ofTheLock, ...files } = snapshotOf(directory);
    if (isOld) expect(files).toEqual(old);
    else expect(await licensesIn(directory)).toEqual([key]);
    if (signal === null) break;
  }
  // It was killed before and after the point from which there is no way back.
  expect(outcomes.join(' ')).toMatch(/^old (?:old )*new (?:new )*new$/u);
});
