// Starts a PostgreSQL cluster from Debian's package, on a free port of loopback.
import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { migratePostgres } from './migrated-database.ts';
import { freePort } from './free-ports.ts';
import { within } from './within.ts';

const DEBIAN_BINARIES = '/usr/lib/postgresql';
const run = promisify(execFile);

/** A running server of PostgreSQL. */
export interface PostgresServer {
  port: number;
  /** Of its first process, the parent of all others. */
  pid(): number;
  /** Ends it as a crash does, and starts it again on the same port, where it first recovers. */
  crash(): Promise<void>;
  /** Stops it as its administrator does, and starts it again `downMs` later. */
  restart(downMs: number): Promise<void>;
  /** Suspends all of its processes: connections stay open, and nothing answers. */
  freeze(): void;
  thaw(): void;
  stop(): Promise<void>;
}

export interface PostgresCluster extends PostgresServer {
  /** The address of a new, empty database. */
  newDatabase(): Promise<string>;
  /** The address of a new database with the present schema, copied from one that is migrated once. */
  newMigratedDatabase(): Promise<string>;
  /** Copies the cluster to a streaming replica, which follows it from then on. */
  startReplica(): Promise<PostgresServer>;
}

/** Where `initdb` is, or null if PostgreSQL is not installed. */
export function postgresBinaries(): string | null {
  try {
    const [version] = readdirSync(DEBIAN_BINARIES).toSorted().toReversed();
    return version === undefined ? null : join(DEBIAN_BINARIES, version, 'bin');
  } catch {
    return null;
  }
}

/** If not, tests that need it are skipped. */
export const hasPostgres = postgresBinaries() !== null;

/** PostgreSQL refuses to run as root, so root runs it as the user that its package made. */
function databaseUser(): { uid?: number; gid?: number } {
  if (userInfo().uid !== 0) return {};
  const id = (flag: string) => Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8' }));
  return { uid: id('-u'), gid: id('-g') };
}

/** The process and its children, by `/proc`. */
function withChildren(pid: number): number[] {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    .trim()
    .split(' ')
    .filter(Boolean);
  return [pid, ...children.map(Number)];
}

/** Of PostgreSQL's processes, any but the first may just have ended. */
function sendSignal(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

/** PostgreSQL logs to stderr, which must be read to its end: a full pipe would stop it. */
async function untilReady(server: ChildProcess): Promise<void> {
  const log: string[] = [];
  const ready = new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL did not start:\n${log.join('\n')}`)));
    createInterface({ input: server.stderr! }).on('line', (line) => {
      log.push(line);
      if (/ready to accept (?:read-only )?connections/u.test(line)) resolve();
    });
  });
  await within('the start of PostgreSQL', ready, { onTimeout: () => log.join('\n') });
}

interface PostgresOptions {
  /** As in production: commits wait for the disk, and autovacuum runs. Few tests have to survive a power cut. */
  isDurable?: boolean;
}

interface ProcessOptions {
  /** Removed at the end. Its sockets are here. */
  directory: string;
  data: string;
  user: { uid?: number; gid?: number };
  isDurable: boolean;
}

function newDirectory(user: ProcessOptions['user']): string {
  const directory = mkdtempSync(join(tmpdir(), 'license-desk-postgres-'));
  if (user.uid !== undefined && user.gid !== undefined) chownSync(directory, user.uid, user.gid);
  return directory;
}

async function startServer({ directory, data, user, isDurable }: ProcessOptions): Promise<PostgresServer> {
  const port = await freePort();
  const fsync = `fsync=${isDurable ? 'on' : 'off'}`;
  // Autovacuum would visit the databases of all tests in turn, several times a second.
  const settings = ['-c', fsync, ...(isDurable ? [] : ['-c', 'autovacuum=off'])];
  const words = ['-D', data, '-p', String(port), '-k', directory, '-h', '127.0.0.1', ...settings];
  // A child of this process and not a daemon: it ends with the process group of a test run that is killed.
  const launch = () =>
    spawn(join(postgresBinaries()!, 'postgres'), words, {
      ...user,
      cwd: '/',
      stdio: ['ignore', 'ignore', 'pipe'],
    });
  let server = launch();
  const signalAll = (signal: NodeJS.Signals) => {
    for (const pid of withChildren(server.pid!)) sendSignal(pid, signal);
  };
  process.once('exit', () => {
    if (server.exitCode !== null || server.signalCode !== null) return;
    server.kill('SIGQUIT');
    signalAll('SIGCONT');
    // Its processes are still ending.
    rmSync(directory, { recursive: true, force: true, maxRetries: 10 });
  });
  await untilReady(server);

  async function end(signal: NodeJS.Signals): Promise<void> {
    const ended = once(server, 'exit');
    server.kill(signal);
    await within(`the end of PostgreSQL after ${signal}`, ended);
  }

  async function restart(signal: NodeJS.Signals, downMs: number): Promise<void> {
    await end(signal);
    await sleep(downMs);
    server = launch();
    await untilReady(server);
  }

  return {
    port,
    pid: () => server.pid!,
    // As `pg_ctl stop -m immediate`.
    crash: () => restart('SIGQUIT', 0),
    // As `pg_ctl stop -m fast`.
    restart: (downMs) => restart('SIGINT', downMs),
    freeze: () => signalAll('SIGSTOP'),
    thaw: () => signalAll('SIGCONT'),
    async stop() {
      // A fast shutdown: sessions that are still open are ended.
      await end('SIGINT');
      rmSync(directory, { recursive: true, force: true });
    },
  };
}

/** A separate cluster, for a test that kills or stops it. */
export async function startPostgres({ isDurable = false }: PostgresOptions = {}): Promise<PostgresCluster> {
  const binaries = postgresBinaries()!;
  const user = databaseUser();
  const options = { ...user, cwd: '/' };
  const directory = newDirectory(user);
  const data = join(directory, 'data');
  const initWords = [
    '-D',
    data,
    '-A',
    'trust',
    '-U',
    'postgres',
    '-E',
    'UTF8',
    '--locale=C.UTF-8',
    '--no-sync',
  ];
  await run(join(binaries, 'initdb'), initWords, options);
  const server = await startServer({ directory, data, user, isDurable });
  const address = ['-h', '127.0.0.1', '-p', String(server.port), '-U', 'postgres'];
  let databases = 0;
  let template: Promise<string> | undefined;

  /** @returns its name */
  async function createDatabase(...words: string[]): Promise<string> {
    databases += 1;
    const name = `desk${databases}`;
    await run(join(binaries, 'createdb'), [...address, ...words, name], options);
    return name;
  }
  const addressOf = (name: string) => `postgres://postgres@127.0.0.1:${server.port}/${name}`;

  async function makeTemplate(): Promise<string> {
    const name = await createDatabase();
    await migratePostgres(addressOf(name));
    return name;
  }

  return {
    ...server,
    newDatabase: async () => addressOf(await createDatabase()),
    async newMigratedDatabase() {
      template ??= makeTemplate();
      return addressOf(await createDatabase('-T', await template));
    },
    async startReplica() {
      const copy = newDirectory(user);
      const copied = join(copy, 'data');
      const words = [...address, '-D', copied, '-R', '-c', 'fast', '--no-sync'];
      await run(join(binaries, 'pg_basebackup'), words, options);
      return startServer({ directory: copy, data: copied, user, isDurable });
    },
  };
}
