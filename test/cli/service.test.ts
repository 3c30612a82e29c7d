// `license-desk service` on Linux, with commands of the system in their place that write down how they are called.
import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import { documentOf, runCli, spawnCli, type CliResult } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const AS_NOBODY = ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'];

let home: string;
let dataDir: string;
const calls = () =>
  existsSync(join(home, 'calls')) ? readFileSync(join(home, 'calls'), 'utf8').trimEnd().split('\n') : [];
const unit = () => join(home, '.config/systemd/user/license-desk.service');

/** Keeps, like systemd, what is started. */
const SYSTEMCTL = String.raw`#!/bin/sh
[ "$1" = --user ] && shift
case "$1" in
  show)
    [ -f "$HOME/.config/systemd/user/$3" ] && echo "FragmentPath=$HOME/.config/systemd/user/$3" || echo "FragmentPath=$FOREIGN"
    [ -f "$HOME/started" ] && echo ActiveState=active || echo ActiveState=inactive
    sed -n 's/^WorkingDirectory=/&/p' "$HOME/.config/systemd/user/$3" 2>/dev/null
    exit 0 ;;
  start|restart) [ -z "$BROKEN" ] || { echo "Job for $2 failed." >&2; exit 1; }; touch "$HOME/started" ;;
  disable) rm -f "$HOME/started" ;;
esac
echo "systemctl $*" >> "$HOME/calls"
`;

beforeEach(() => {
  home = temporaryDirectory();
  dataDir = join(home, 'desk data');
  mkdirSync(join(home, 'bin'));
  writeFileSync(join(home, 'bin/systemctl'), SYSTEMCTL);
  writeFileSync(join(home, 'bin/loginctl'), '#!/bin/sh\necho "loginctl $1" >> "$HOME/calls"\n');
  for (const name of ['systemctl', 'loginctl']) chmodSync(join(home, 'bin', name), 0o755);
  vi.stubEnv('HOME', home);
  vi.stubEnv('SUDO_USER', '');
  vi.stubEnv('PATH', [join(home, 'bin'), process.env['PATH']].join(delimiter));
});

/** On the test's data directory, unless the words name another one. */
function service(verb: string, ...words: string[]): Promise<CliResult> {
  const directory = words.includes('--data-dir') ? [] : ['--data-dir', dataDir];
  return runCli(['service', verb, '--user', '--json', ...directory, ...words]);
}

async function succeeds<Reply>(verb: string, ...words: string[]): Promise<Reply> {
  const result = await service(verb, ...words);
  expect(result).toMatchObject({ stderr: '', exitCode: 0 });
  return documentOf<Reply & Record<string, unknown>>(result);
}

describe.skipIf(process.platform !== 'linux')('a service of a user', () => {
  test('is installed, again without a change, and removed; the data stays', async () => {
    const status = async () => (await succeeds<{ service: object }>('status')).service;
    expect(await status()).toMatchObject({ installed: false, running: false, address: null, data_dir: null });

    await succeeds('install');
    expect(calls()).toEqual([
      'systemctl daemon-reload',
      'systemctl enable license-desk.service',
      'loginctl enable-linger',
      'systemctl restart license-desk.service',
    ]);
    expect(statSync(unit()).mode & 0o777).toBe(0o644);
    expect(statSync(dataDir).mode & 0o777).toBe(0o700);
    expect(await status()).toMatchObject({
      installed: true,
      running: true,
      data_dir: dataDir,
      definition: unit(),
    });

    const before = calls().length;
    await succeeds('install');
    expect(calls().slice(before)).not.toContain('systemctl daemon-reload');
    expect(calls().at(-1)).toBe('systemctl start license-desk.service');

    writeFileSync(join(dataDir, 'kept'), '');
    expect(await succeeds('uninstall')).toMatchObject({ removed: true, data_dir: dataDir });
    expect(existsSync(unit())).toBe(false);
    expect(existsSync(join(dataDir, 'kept'))).toBe(true);
    expect(await status()).toMatchObject({ installed: false, running: false });
    expect(await succeeds('uninstall')).toMatchObject({ removed: false });
  });

  test('has its API address in its status', async () => {
    await succeeds('install');
    const server = await startServerProcess({ dataDir });
    expect(await succeeds('status')).toMatchObject({
      service: { address: server.api.replace(/\/?$/u, '/') },
    });
    await server.kill();
  });

  test('is only printed by a dry run', async () => {
    const { steps } = await succeeds<{ steps: { do: string; path?: string }[] }>('install', '--dry-run');
    expect(steps.map((step) => step.do)).toEqual(['create_directory', 'write', 'run', 'run', 'run', 'run']);
    expect(existsSync(dataDir)).toBe(false);
    expect(existsSync(unit())).toBe(false);
    const words = ['service', 'uninstall', '--user', '--dry-run', '--data-dir', dataDir];
    expect((await runCli(words)).stdout).toBe(
      `run systemctl --user disable --now license-desk.service\nremove ${unit()}\n` +
        'run systemctl --user daemon-reload\nrun systemctl --user reset-failed license-desk.service  (may fail)\n',
    );
    expect(calls()).toEqual([]);
  });

  async function refusal(verb: string, ...words: string[]): Promise<string> {
    const { stderr, exitCode } = await service(verb, ...words);
    expect(exitCode).toBeGreaterThan(0);
    expect(calls()).toEqual([]);
    return stderr;
  }

  test('is refused under a name that somebody else uses', async () => {
    mkdirSync(join(home, '.config/systemd/user'), { recursive: true });
    const other = join(home, '.config/systemd/user/nginx.service');
    writeFileSync(other, '[Service]\n');
    for (const verb of ['install', 'uninstall']) {
      expect(await refusal(verb, '--name', 'nginx')).toContain(
        `is defined by ${other}, which this command did not write`,
      );
    }
    vi.stubEnv('FOREIGN', '/usr/lib/systemd/user/license-desk.service');
    expect(await refusal('install')).toContain('or remove the package that brought it');
  });

  test('is refused on a data directory that it could not serve', async () => {
    mkdirSync(dataDir, { mode: 0o700 });
    writeFileSync(join(dataDir, 'master-key.sealed'), '{}');
    expect(await refusal('install')).toContain('in the app, choose Server, Export Master Key File');
    const other = temporaryDirectory();
    const server = await startServerProcess({ dataDir: other });
    expect(await refusal('install', '--data-dir', other)).toContain(`a server (process ${server.pid}, `);
    await server.kill();
  });

  test('is refused with a name that no service can have, and for root through sudo', async () => {
    expect(await refusal('install', '--name', '../x')).toContain('(got ../x)');
    expect(await refusal('install', '--data-dir', 'a\nb')).toContain('must not contain control characters');
    vi.stubEnv('SUDO_USER', 'ann');
    expect(await refusal('install')).toContain('run it without sudo');
  });

  test('is refused with a setting that the service would not get', async () => {
    const install = (...words: string[]) => service('install', '--dry-run', ...words);
    expect(await install('--default-product', 'pro')).toMatchObject({
      exitCode: 2,
      stderr:
        'error: service install does not take --default-product; put the setting in ' +
        `~/.config/license-desk.env (LICENSE_DESK_DEFAULT_PRODUCT) or config.json in ${dataDir} (default_product)\n`,
    });
    for (const [flag, value] of [
      ['--database-url', 'postgres://desk@db.example.com/desk'],
      ['--database-url-file', '/etc/license-desk.database-url'],
    ] as const) {
      const { exitCode, stdout, stderr } = await install(flag, value);
      expect({ exitCode, ...(JSON.parse(stdout) as object) }).toMatchObject({ exitCode: 2, ok: false });
      expect(stderr).toContain(`does not take ${flag};`);
      expect(stderr).not.toContain(value);
    }
    const system = await runCli([
      'service',
      'install',
      '--dry-run',
      '--name',
      'desk',
      '--default-product',
      'pro',
    ]);
    expect(system).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('/etc/desk.env') as string });
    expect(calls()).toEqual([]);
  });

  test('says what the service manager said', async () => {
    vi.stubEnv('BROKEN', '1');
    const { stderr, exitCode } = await service('install');
    expect(exitCode).toBe(1);
    expect(stderr).toBe(
      'error: systemctl --user restart license-desk.service failed: Job for license-desk.service failed.\n',
    );
  });
});

describe.skipIf(process.platform !== 'linux')('a service of the system', () => {
  const system = (...words: string[]) => spawnCli(['service', ...words], { prefix: AS_NOBODY });

  test.skipIf(process.getuid?.() !== 0)('needs root, but not for a dry run', async () => {
    chmodSync(home, 0o755);
    for (const verb of ['install', 'uninstall']) {
      expect(await system(verb)).toMatchObject({
        exitCode: 1,
        stderr: expect.stringContaining(
          'needs administrator rights: run it with sudo, or add --user',
        ) as string,
      });
    }
    const { stdout, exitCode } = await system('install', '--dry-run');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('write /etc/systemd/system/license-desk.service\n');
  });
});
