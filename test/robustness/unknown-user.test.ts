// A user id that no passwd entry names, and no HOME: what a container gives a process.
import { chownSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { spawnCli, spawnedCliOn } from '../helpers/cli.ts';
import { startServerProcess, temporaryDirectory } from '../helpers/server-process.ts';

const UID = 54_321;
const NO_HOME =
  'error: this user has no home directory; set a data directory with --data-dir or LICENSE_DESK_DATA_DIR\n';
const AS_UNKNOWN_USER =
  `setpriv --reuid=${UID} --regid=${UID} --clear-groups env -u HOME -u XDG_DATA_HOME`.split(' ');

function directoryOfUnknownUser(): string {
  const directory = temporaryDirectory();
  for (const path of [dirname(directory), directory]) chownSync(path, UID, UID);
  return directory;
}

// Only root can become a user that does not exist.
describe.skipIf(process.getuid?.() !== 0)('a user id without a passwd entry', () => {
  it('runs the server, signs in and works on the command line', async () => {
    const dataDir = directoryOfUnknownUser();
    const server = await startServerProcess({ dataDir, prefix: AS_UNKNOWN_USER });
    const code = new URL(server.ready.admin).searchParams.get('code');
    const signIn = () =>
      fetch(`${server.adminOrigin}/admin/api/session/`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ code }),
      });
    const reply = await signIn();
    expect(reply.status).toBe(200);
    const cookie = reply.headers.get('set-cookie')!.split(';')[0]!;
    expect((await signIn()).status).toBe(401);
    expect(
      (await fetch(`${server.adminOrigin}/admin/api/server-info/`, { headers: { cookie } })).status,
    ).toBe(200);

    const cli = spawnedCliOn(dataDir, { prefix: AS_UNKNOWN_USER });
    await cli.ok('license', 'create', '--holder', 'through the server');
    await server.kill();
    await cli.ok('license', 'create', '--holder', 'on the database');
    await cli.ok('fingerprint', '--seed', 'x');
    const { items } = await cli.ok<{ items: object[] }>('audit', 'list');
    expect(items.filter((item) => 'action' in item && item.action !== 'signing_key.created')).toMatchObject([
      { action: 'license.created', actor_kind: 'cli', actor_name: `uid ${UID}` },
      { action: 'license.created', actor_kind: 'cli', actor_name: `uid ${UID}` },
      { action: 'session.signed_in', actor_kind: 'session', actor_name: `uid ${UID}` },
    ]);
  });

  it('is asked for a data directory', async () => {
    const { exitCode, stderr } = await spawnCli(['license', 'list'], { prefix: AS_UNKNOWN_USER });
    expect([exitCode, stderr]).toEqual([1, NO_HOME]);
  });
});

describe.skipIf(process.platform !== 'linux')('the default data directory', () => {
  const home = temporaryDirectory('home');
  const work = temporaryDirectory('work');
  const inHome = join(home, '.local/share/license-desk');

  it.each([
    ['an empty XDG_DATA_HOME', { HOME: home, XDG_DATA_HOME: '' }, inHome],
    ['a relative XDG_DATA_HOME', { HOME: home, XDG_DATA_HOME: 'data' }, inHome],
    ['an absolute XDG_DATA_HOME', { HOME: '', XDG_DATA_HOME: home }, join(home, 'license-desk')],
  ])('with %s', async (_name, env, expected) => {
    const { exitCode, stderr } = await spawnCli(['license', 'list'], { env, cwd: work });
    expect(exitCode).toBe(1);
    expect(stderr).toContain(` ${expected} `);
  });

  it.each([
    ['an empty HOME', ''],
    ['a relative HOME', 'home'],
  ])('with %s has to be named', async (_name, HOME) => {
    const env = { HOME, XDG_DATA_HOME: '' };
    const result = await spawnCli(['license', 'create', '--holder', 'A'], { env, cwd: work });
    expect(result).toEqual({ exitCode: 1, stdout: '', stderr: NO_HOME });
    const service = await spawnCli(['service', 'install', '--user', '--dry-run'], { env, cwd: work });
    expect(service).toEqual({
      exitCode: 1,
      stdout: '',
      stderr: 'error: this user has no home directory, which a service with --user needs\n',
    });
    expect(readdirSync(work)).toEqual([]);
  });
});
