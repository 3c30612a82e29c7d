// Files that commands write for others: whole or as they were, with the mode that the user wants, also through links.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  createReadStream,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { beforeAll, describe, expect, test } from 'vitest';
import { generateLicenseKey } from '#server/rules/license-key.ts';
import { asCommand } from '../helpers/as-command.ts';
import { runCli, spawnCli } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const KEY = generateLicenseKey((size) => new Uint8Array(size).fill(1));
const FINGERPRINT = `sha256:${'a1'.repeat(32)}`;
const REQUEST = ['request', '--license-key', KEY, '--fingerprint', FINGERPRINT, '--out'];
const UNKNOWN_UID = 54_321;

const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const isRequest = expect.stringContaining('LICENSE REQUEST') as string;

describe.skipIf(process.platform === 'win32')('a file for others', () => {
  let dataDir: string;

  beforeAll(async () => {
    dataDir = temporaryDirectory();
    await asCommand(dataDir, (admin) => admin.createLicense({ holder: 'Acme' }));
  });

  test.each([
    ['cert ca', '022', '644'],
    ['cert crl', '022', '644'],
    ['license file 1', '022', '644'],
    ['cert ca', '027', '640'],
    ['license export', '022', '600'],
    ['audit export', '022', '600'],
    ['backup', '022', '600'],
  ])('%s with the umask %s has the mode %s', async (command, umask, mode) => {
    const out = join(temporaryDirectory(), 'file');
    const words = [...command.split(' '), '--out', out, '--data-dir', dataDir];
    const result = await spawnCli(words, { prefix: ['sh', '-c', `umask ${umask}; exec "$@"`, 'sh'] });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
    expect(modeOf(out)).toBe(mode);
  });

  test('keeps its old content if the disk takes only a part of the new one', async () => {
    const server = await startServerProcess({ dataDir: temporaryDirectory() });
    await asCommand(server.dataDir, (admin) => admin.createLicense({ holder: 'Acme' }));
    for (const command of ['cert ca', 'cert crl', 'license file 1']) {
      const out = join(temporaryDirectory(), 'file');
      writeFileSync(out, 'as before');
      const words = [...command.split(' '), '--out', out, '--data-dir', server.dataDir];
      const { exitCode, stderr } = await spawnCli(words, { prefix: ['prlimit', '--fsize=100'] });
      expect(readFileSync(out, 'utf8')).toBe('as before');
      expect(readdirSync(dirname(out))).toEqual(['file']);
      expect([exitCode, stderr]).toEqual([
        1,
        `error: cannot write ${out}: the file would be larger than the limit\n`,
      ]);
    }
  });
});

describe.skipIf(process.platform === 'win32')('an existing file', () => {
  test('keeps its mode and its owner', async () => {
    const out = join(temporaryDirectory(), 'file');
    writeFileSync(out, 'old');
    chmodSync(out, 0o640);
    if (process.getuid?.() === 0) chownSync(out, UNKNOWN_UID, UNKNOWN_UID);
    const { uid, gid } = statSync(out);
    expect(await runCli([...REQUEST, out])).toMatchObject({ exitCode: 0 });
    expect(readFileSync(out, 'utf8')).toEqual(isRequest);
    expect(modeOf(out)).toBe('640');
    expect(statSync(out)).toMatchObject({ uid, gid });
  });

  test('is written through symbolic links, also if their target does not exist yet', async () => {
    const folder = temporaryDirectory();
    mkdirSync(join(folder, 'partition'));
    symlinkSync('link-2', join(folder, 'link'));
    symlinkSync('partition/file', join(folder, 'link-2'));
    for (const round of ['new', 'existing']) {
      expect(await runCli([...REQUEST, join(folder, 'link')]), round).toMatchObject({ exitCode: 0 });
      expect(lstatSync(join(folder, 'link')).isSymbolicLink()).toBe(true);
      expect(lstatSync(join(folder, 'link-2')).isSymbolicLink()).toBe(true);
      expect(readFileSync(join(folder, 'partition', 'file'), 'utf8')).toEqual(isRequest);
      expect(readdirSync(join(folder, 'partition'))).toEqual(['file']);
    }
  });

  test('is not written through what another user has put beside it', async () => {
    const folder = temporaryDirectory();
    const [out, mine] = [join(folder, 'file'), join(folder, 'mine')];
    writeFileSync(mine, 'mine');
    // Process IDs are easy to guess. The command runs in this process.
    symlinkSync(mine, `${out}.${process.pid}.tmp`);
    for (const round of ['new', 'existing']) {
      expect(await runCli([...REQUEST, out]), round).toMatchObject({ exitCode: 0 });
      expect(readFileSync(mine, 'utf8')).toBe('mine');
      expect(lstatSync(out).isSymbolicLink()).toBe(false);
      expect(readFileSync(out, 'utf8')).toEqual(isRequest);
    }
  });

  // Root may write everywhere.
  test.skipIf(process.getuid?.() !== 0)('of the user is written in a directory of others', async () => {
    const folder = temporaryDirectory();
    const out = join(folder, 'file');
    writeFileSync(out, 'old');
    chownSync(out, UNKNOWN_UID, UNKNOWN_UID);
    for (const path of [dirname(folder), folder]) chmodSync(path, 0o755);
    const prefix = ['setpriv', `--reuid=${UNKNOWN_UID}`, `--regid=${UNKNOWN_UID}`, '--clear-groups'];
    expect(await spawnCli([...REQUEST, out], { prefix })).toMatchObject({ exitCode: 0, stderr: '' });
    expect(readFileSync(out, 'utf8')).toEqual(isRequest);

    chmodSync(out, 0o444);
    const refused = await spawnCli([...REQUEST, out], { prefix });
    expect(refused).toMatchObject({
      exitCode: 1,
      stderr: `error: cannot write ${out}: permission denied\n`,
    });
  });

  test('that is not a regular file is written directly', async () => {
    const prefix = ['sh', '-c', '"$@" | cat', 'sh'];
    const { stdout } = await spawnCli([...REQUEST, '/dev/stdout'], { prefix });
    expect(stdout).toEqual(isRequest);
    expect((await runCli([...REQUEST, '/dev/null'])).exitCode).toBe(0);
    expect(statSync('/dev/null').isCharacterDevice()).toBe(true);

    const pipe = join(temporaryDirectory(), 'pipe');
    execFileSync('mkfifo', [pipe]);
    const reader = createReadStream(pipe, 'utf8');
    const [content] = await Promise.all([text(reader), spawnCli([...REQUEST, pipe])]);
    expect(content).toEqual(isRequest);
    expect(statSync(pipe).isFIFO()).toBe(true);
  });

  test('/dev/stdout stays the open file', async () => {
    const out = join(temporaryDirectory(), 'file');
    const prefix = ['sh', '-c', `exec "$@" >>${out}`, 'sh'];
    writeFileSync(out, 'first\n');
    const before = statSync(out).ino;
    expect(await spawnCli([...REQUEST, '/dev/stdout'], { prefix })).toMatchObject({ exitCode: 0 });
    expect(statSync(out).ino).toBe(before);
    expect(readFileSync(out, 'utf8')).toMatch(
      /^first\n-----BEGIN LICENSE REQUEST-----\n[\w=.\n-]+\n-----END LICENSE REQUEST-----\n/u,
    );
  });

  test('that is a directory is refused', async () => {
    const out = temporaryDirectory();
    const { exitCode, stderr } = await runCli([...REQUEST, out]);
    expect([exitCode, stderr]).toEqual([1, `error: cannot write ${out}: it is a directory\n`]);
  });
});
