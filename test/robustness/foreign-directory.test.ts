// Root on the data directory of another user, such as that of a service. What root writes there, the service could not open.
import { chownSync, globSync, lstatSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { cliOn, spawnedCliOn } from '../helpers/cli.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const UID = 54_321;
const AS_OWNER = ['setpriv', `--reuid=${UID}`, `--regid=${UID}`, '--clear-groups'];

function directoryOfOwner(): string {
  const dataDir = temporaryDirectory();
  for (const path of [dirname(dataDir), dataDir]) chownSync(path, UID, UID);
  return dataDir;
}

/** Every file with its owner and its time. */
function listing(dataDir: string): string[] {
  return globSync('**/*', { cwd: dataDir })
    .map((name) => ({ name, stats: lstatSync(join(dataDir, name)) }))
    .map(({ name, stats }) => `${name} ${stats.uid} ${stats.mtimeMs}`)
    .toSorted();
}

const remedy = (dataDir: string) =>
  `the data directory ${dataDir} belongs to the user #${UID}, whose server could not open files that root writes; ` +
  `run the command as that user: sudo -u '#${UID}' license-desk --data-dir ${dataDir} …`;

/** What writes without a server. */
const COMMANDS = [
  'license list',
  'license create --holder New',
  'settings set scan_seconds 120',
  'restore desk.tar --accept-unsigned --yes',
  'move-database --to postgres://127.0.0.1:1/desk',
];

describe.skipIf(process.getuid?.() !== 0)('a data directory of another user', () => {
  it('is closed to root while no server runs on it', async () => {
    const dataDir = directoryOfOwner();
    const owner = spawnedCliOn(dataDir, { prefix: AS_OWNER });
    for (const when of ['before its first use', 'later']) {
      const before = listing(dataDir);
      for (const command of COMMANDS) {
        const { error_code, message } = await cliOn(dataDir).fails(...command.split(' '));
        expect([when, command, error_code, message]).toEqual([when, command, 'unavailable', remedy(dataDir)]);
      }
      const { code, stderr } = await serveToEnd({ dataDir });
      expect([code, stderr]).toEqual([1, `error: ${remedy(dataDir)}\n`]);
      expect(listing(dataDir)).toEqual(before);
      await owner.ok('license', 'create', '--holder', 'Its owner’s');
    }
    const before = listing(dataDir);
    expect(await cliOn(dataDir).ok('doctor')).toMatchObject({ ok: true });
    expect(listing(dataDir)).toEqual(before);
  });

  it('is open to root through its server', async () => {
    const dataDir = directoryOfOwner();
    const server = await startServerProcess({ dataDir, prefix: AS_OWNER });
    await cliOn(dataDir).ok('license', 'create', '--holder', 'Root’s');
    const backup = join(temporaryDirectory(), 'desk.tar');
    await cliOn(dataDir).ok('backup', '--out', backup);
    await server.kill();
    const others = listing(dataDir).filter((line) => line.split(' ')[1] !== String(UID));
    expect(others).toEqual([]);
  });

  it('is open to root if root has run the installation from its start, as in a container with a foreign volume', async () => {
    const dataDir = temporaryDirectory();
    await cliOn(dataDir).ok('license', 'create', '--holder', 'Root’s');
    chownSync(dataDir, UID, UID);
    await cliOn(dataDir).ok('license', 'create', '--holder', 'Root’s');
    expect((await (await startServerProcess({ dataDir })).kill()).code).toBe(0);
  });
});
