// A new data directory below an installation, as when a container keeps its data in a directory of its volume from now on.
import { cpSync, existsSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { PASSPHRASE } from '../helpers/backup-file.ts';
import { CLI_PROGRAM, cliOn } from '../helpers/cli.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

let used: string;

beforeAll(async () => {
  used = temporaryDirectory();
  await cliOn(used).ok('license', 'create', '--holder', 'Kept');
  writeFileSync(join(used, 'config.json'), '{ "scan_seconds": 120 }');
});

/** The data directory of an installation that has only these files left, or all. */
function installationWith(...names: string[]): string {
  const dataDir = temporaryDirectory();
  cpSync(used, dataDir, { recursive: true });
  if (names.length > 0)
    for (const name of readdirSync(dataDir))
      if (!names.includes(name)) rmSync(join(dataDir, name), { recursive: true });
  return dataDir;
}

const serve = [CLI_PROGRAM, 'serve'];

describe('a data directory below an installation', () => {
  it.each([
    [['installation.json']],
    [['license-desk.db', 'master.key']],
    [['master.key']],
    [['license-desk.db']],
    [['config.json']],
  ])('is not created where there is %s', async (names) => {
    const dataDir = installationWith(...names);
    const below = join(dataDir, 'license-desk');
    const refusal = `${dataDir} has an installation, and ${below} would be a new one; use --data-dir ${dataDir}, or move all files`;
    for (const words of [
      ['license', 'create', '--holder', 'New'],
      ['license', 'list'],
      ['move-database', '--to', 'sqlite'],
    ]) {
      const { error_code, message } = await cliOn(below).fails(...words);
      expect([error_code, message]).toEqual(['unavailable', expect.stringContaining(refusal)]);
    }
    const { checks } = (await cliOn(below).fails('doctor')) as unknown as { checks: object[] };
    expect(checks).toContainEqual({
      check: 'data_directory',
      ok: false,
      detail: expect.stringContaining(refusal) as string,
    });
    const { code, stderr } = await serveToEnd({ dataDir: below, program: serve });
    expect([code, stderr]).toEqual([1, expect.stringContaining(refusal)]);
    expect(existsSync(below)).toBe(false);
  });

  it('is created beside the config.json of another program', async () => {
    const folder = temporaryDirectory();
    for (const [name, text] of Object.entries({ other: '{ "theme": "dark" }', list: '[]', none: 'x' })) {
      writeFileSync(join(folder, 'config.json'), text);
      await cliOn(join(folder, name)).ok('license', 'create', '--holder', 'New');
    }
  });

  it('is created by a restore, which checks a backup there', async () => {
    const dataDir = installationWith();
    const passphrase = join(temporaryDirectory(), 'passphrase');
    writeFileSync(passphrase, PASSPHRASE);
    const backup = join(dataDir, 'desk.ldbackup');
    const opened = ['--passphrase-file', passphrase];
    await cliOn(dataDir).ok('backup', '--out', backup, ...opened);
    const below = join(dataDir, 'desk-data-restored');
    await cliOn(below).ok('restore', backup, ...opened, '--yes');
    for (const directory of [dataDir, below])
      expect((await cliOn(directory).ok<{ items: object[] }>('license', 'list')).items).toHaveLength(1);
  });

  it('is created for a new installation', async () => {
    const below = join(installationWith(), 'second');
    const server = await startServerProcess({ dataDir: below, program: [...serve, '--new-installation'] });
    expect((await server.kill()).code).toBe(0);
    expect((await cliOn(below).ok<{ items: object[] }>('license', 'list')).items).toHaveLength(0);
  });
});
