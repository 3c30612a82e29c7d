// A PostgreSQL server of the tests' own, from Debian's package, on a free port of loopback.
import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import type { AddressInfo } from 'node:net';

const DEBIAN_BINARIES = '/usr/lib/postgresql';

export interface TestPostgres {
  /** The address of a new, empty database. */
  newDatabase(): string;
  stop(): void;
}

/** Where `initdb` is, or null where PostgreSQL is not installed. */
export function postgresBinaries(): string | null {
  try {
    const [version] = readdirSync(DEBIAN_BINARIES).toSorted().toReversed();
    return version === undefined ? null : join(DEBIAN_BINARIES, version, 'bin');
  } catch {
    return null;
  }
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => {
    server.once('listening', resolve);
  });
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => {
    server.close(resolve);
  });
  return port;
}

/** PostgreSQL refuses to run as root, so root runs it as the user that its package made. */
function run(command: string, words: string[]): string {
  const [program, ...rest] =
    userInfo().uid === 0 ? ['runuser', '-u', 'postgres', '--', command, ...words] : [command, ...words];
  return execFileSync(program as string, rest, {
    encoding: 'utf8',
    cwd: '/',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

export async function startPostgres(binaries: string): Promise<TestPostgres> {
  const directory = mkdtempSync(join(tmpdir(), 'license-desk-postgres-'));
  if (userInfo().uid === 0) {
    const postgresId = Number(execFileSync('id', ['-u', 'postgres'], { encoding: 'utf8' }));
    chownSync(directory, postgresId, postgresId);
  }
  const data = join(directory, 'data');
  const port = await freePort();
  run(join(binaries, 'initdb'), [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
  ]);
  const options = `-p ${port} -k ${directory} -h 127.0.0.1 -c fsync=off`;
  run(join(binaries, 'pg_ctl'), ['-D', data, '-o', options, '-l', join(directory, 'log'), '-w', 'start']);
  let databases = 0;
  return {
    newDatabase() {
      databases += 1;
      run(join(binaries, 'createdb'), [
        '-h',
        '127.0.0.1',
        '-p',
        String(port),
        '-U',
        'postgres',
        `desk${databases}`,
      ]);
      return `postgres://postgres@127.0.0.1:${port}/desk${databases}`;
    },
    stop() {
      run(join(binaries, 'pg_ctl'), ['-D', data, '-m', 'fast', '-w', 'stop']);
      rmSync(directory, { recursive: true, force: true });
    },
  };
}
