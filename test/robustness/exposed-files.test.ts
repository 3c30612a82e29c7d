// Keys and data that other users of the machine can read or replace: nothing starts on them.
import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  chownSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { exposedFiles } from '#server/installation/exposed-files.ts';
import { CLI_PROGRAM, cliOn, spawnedCliOn } from '../helpers/cli.ts';
import { serveToEnd, startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

let used: string;

beforeAll(async () => {
  used = temporaryDirectory();
  await cliOn(used).ok('license', 'create', '--holder', 'Kept');
});

/** A data directory with a license in it, which no server runs on. */
function usedDirectory(name?: string): string {
  const dataDir = temporaryDirectory(name);
  cpSync(used, dataDir, { recursive: true, preserveTimestamps: true });
  chmodSync(dataDir, 0o700);
  return dataDir;
}

const PASSWORD = '{ "database_url": "postgres://desk:secret@127.0.0.1:1/desk" }';

/** Whatever the umask is, which commands that run in this process have set. */
function writeWithMode(path: string, text: string, mode: number): void {
  writeFileSync(path, text);
  chmodSync(path, mode);
}

const EXPOSED: [what: string, expose: (dataDir: string) => void, chmod: RegExp][] = [
  ['the directory, readable', (dataDir) => chmodSync(dataDir, 0o755), /run: chmod o= \S+$/u],
  ['the directory, for its group to change', (dataDir) => chmodSync(dataDir, 0o770), /run: chmod g-w \S+$/u],
  ['the directory, for everybody', (dataDir) => chmodSync(dataDir, 0o777), /run: chmod o=,g-w \S+$/u],
  ['a shared directory', (dataDir) => chmodSync(dataDir, 0o2775), /run: chmod o= \S+$/u],
  [
    'the master key',
    (dataDir) => chmodSync(join(dataDir, 'master.key'), 0o644),
    /chmod go= \S+\/master\.key$/u,
  ],
  [
    'the master key, for its group',
    (dataDir) => chmodSync(join(dataDir, 'master.key'), 0o640),
    /master\.key$/u,
  ],
  ['the database', (dataDir) => chmodSync(join(dataDir, 'license-desk.db'), 0o602), /license-desk\.db$/u],
  [
    'a sealed master key',
    (dataDir) => writeWithMode(join(dataDir, 'master-key.sealed'), '{}', 0o644),
    /master-key\.sealed$/u,
  ],
  [
    'the key of the server’s own certificate',
    (dataDir) => {
      mkdirSync(join(dataDir, 'tls'));
      writeWithMode(join(dataDir, 'tls', 'server.json'), '{}', 0o644);
    },
    /tls\/server\.json$/u,
  ],
  [
    'settings with a password',
    (dataDir) => writeWithMode(join(dataDir, 'config.json'), PASSWORD, 0o644),
    /config\.json$/u,
  ],
];

describe.skipIf(process.platform === 'win32')('a data directory', () => {
  it.each(EXPOSED)('is refused for %s, with what to type', (_what, expose, chmod) => {
    const dataDir = usedDirectory();
    expect(exposedFiles({ dataDir, tls: { mode: 'off' } })).toBeNull();
    expose(dataDir);
    const problem = exposedFiles({ dataDir, tls: { mode: 'off' } });
    expect(problem).toMatch(/^other users can read or change [^\n]+$/u);
    expect(problem).toMatch(chmod);
  });

  it('is refused to commands and found by doctor, and the command that is named is the remedy', async () => {
    const dataDir = usedDirectory("Jana's data");
    chmodSync(dataDir, 0o777);
    chmodSync(join(dataDir, 'master.key'), 0o644);
    chmodSync(join(dataDir, 'license-desk.db'), 0o664);
    const cli = cliOn(dataDir);
    const { message, error_code } = await cli.fails('license', 'list');
    expect(error_code).toBe('unavailable');
    const { checks } = (await cli.fails('doctor')) as unknown as { checks: object[] };
    expect(checks).toContainEqual({ check: 'permissions', ok: false, detail: message });
    execFileSync('sh', ['-c', message.slice(message.indexOf('chmod'))]);
    expect((await cli.ok<{ items: object[] }>('license', 'list')).items).toHaveLength(1);
    const sound = await cli.ok<{ checks: object[] }>('doctor');
    expect(sound.checks).toContainEqual(expect.objectContaining({ check: 'permissions', ok: true }));
  });

  it('is refused for a TLS key in it that others can read', async () => {
    const dataDir = usedDirectory();
    const [certificate, key] = [join(dataDir, 'desk.crt'), join(dataDir, 'desk.key')];
    for (const file of [certificate, key]) writeWithMode(file, '', 0o644);
    const env = { NODE_COMPILE_CACHE: '' };
    const flags = { tls: `${certificate},${key}` };
    const { code, stderr } = await serveToEnd({ dataDir, flags, env });
    expect(code).toBe(1);
    expect(stderr.trim()).toMatch(/run: chmod go= \S+\/desk\.key$/u);
    expect(existsSync(join(dataDir, 'cache'))).toBe(false);
  });

  it('is closed to others at its first use, as mkdir leaves it open', async () => {
    for (const start of ['server', 'command']) {
      const dataDir = temporaryDirectory();
      chmodSync(dataDir, 0o755);
      if (start === 'command') await cliOn(dataDir).ok('license', 'list');
      else expect((await (await startServerProcess({ dataDir })).kill()).code).toBe(0);
      expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    }
  });

  it('may be listed by its group, and contain world-readable settings', async () => {
    const dataDir = usedDirectory();
    chmodSync(dataDir, 0o750);
    writeWithMode(join(dataDir, 'config.json'), '{ "scan_seconds": 120 }', 0o644);
    expect((await (await startServerProcess({ dataDir })).kill()).code).toBe(0);
  });
});

// Only root can become another user.
describe.skipIf(process.getuid?.() !== 0)('a volume of another owner', () => {
  const [UID, GID] = [54_321, 54_322];
  const prefix = ['setpriv', `--reuid=${UID}`, '--regid=54321', `--groups=${GID}`];

  /** What a Kubernetes `fsGroup` makes of it. */
  function volume(mode: number, dataDir = usedDirectory()): string {
    chmodSync(dirname(dataDir), 0o755);
    for (const name of ['.', ...readdirSync(dataDir)]) {
      chownSync(join(dataDir, name), 0, GID);
      chmodSync(join(dataDir, name), name === '.' ? mode : 0o660);
    }
    return dataDir;
  }

  /** The directory that the message names. */
  const wayOut = (message: string) => message.slice(message.indexOf('--data-dir')).split(' ')[1]!;

  it('is used if it is shared with a group by setgid', async () => {
    const cli = spawnedCliOn(volume(0o2770), { prefix });
    expect((await cli.ok<{ items: object[] }>('license', 'list')).items).toHaveLength(1);
  });

  it('is refused if others can read it, with a way out that its user has', async () => {
    const dataDir = volume(0o2775, temporaryDirectory());
    const { message } = await spawnedCliOn(dataDir, { prefix }).fails('license', 'list');
    expect(message).toMatch(/run: chmod o= \S+ as its owner, or choose a new directory below it/u);
    const server = await startServerProcess({
      dataDir: wayOut(message),
      prefix,
      program: [CLI_PROGRAM, 'serve'],
    });
    expect((await server.kill()).code).toBe(0);
    expect(statSync(wayOut(message)).mode & 0o777).toBe(0o700);
  });

  it('is refused with its installation, which nothing replaces by a new one below it', async () => {
    const dataDir = volume(0o2775);
    const { message } = await spawnedCliOn(dataDir, { prefix }).fails('license', 'list');
    expect(message).toMatch(/run: chmod o= \S+ as its owner, or move all files to a new directory below it/u);
    const way = wayOut(message);
    const below = spawnedCliOn(way, { prefix });
    const refusal = `${dataDir} has an installation, and ${way} would be a new one; use --data-dir ${dataDir}, or move all files`;
    expect((await below.fails('license', 'create', '--holder', 'New')).message).toContain(refusal);
    const { code, stderr } = await serveToEnd({ dataDir: way, prefix });
    expect([code, stderr]).toEqual([1, expect.stringContaining(refusal)]);
    expect(existsSync(way)).toBe(false);

    const { checks } = (await below.fails('doctor')) as unknown as { checks: object[] };
    expect(checks).toContainEqual({
      check: 'data_directory',
      ok: false,
      detail: expect.stringContaining(refusal) as string,
    });

    const names = readdirSync(dataDir).map((name) => join(dataDir, name));
    execFileSync(prefix[0]!, [...prefix.slice(1), 'mkdir', '-m', '0700', way]);
    execFileSync(prefix[0]!, [...prefix.slice(1), 'mv', ...names, way]);
    expect((await below.ok<{ items: object[] }>('license', 'list')).items).toHaveLength(1);
  });
});
