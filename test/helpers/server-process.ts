// The real server in a separate process, as administrators run it. None outlives the test file that started it.
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  closeSync,
  existsSync,
  type FSWatcher,
  mkdirSync,
  mkdtempSync,
  openSync,
  rmSync,
  watch,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { type BackOffice, backOfficeOf } from './back-office-of.ts';
import { onEachFile } from './file-lifecycle.ts';
import { prepareNewDirectory } from './migrated-database.ts';
import type { Reply } from './test-server.ts';
import { within } from './within.ts';
import './exit-on-signal.ts';

const project = resolve(import.meta.dirname, '../..');
const built = join(project, 'out/main/cli.js');
/** The build where there is one; Node runs the source just as well. */
export const SERVE = existsSync(built) ? [built, 'serve'] : [join(project, 'server/process/main.ts')];

export interface ServeOptions {
  dataDir: string;
  /** Settings by flag name; unless given, ports are free ones, and only the limit of `/authorize/token/` is on. */
  flags?: Readonly<Record<string, string>>;
  env?: Readonly<Record<string, string>>;
  /** What the command line starts with, such as `env` and the settings of a false clock. */
  prefix?: readonly string[];
  /** The program and its first words, where it is not this project's own. */
  program?: readonly string[];
  /** Where stderr goes instead of into memory, for a server that logs more than a test should keep. */
  stderrFile?: string;
}

/** How a process ended, and all that it printed. */
export interface ProcessEnd {
  /** Null if a signal ended it. */
  code: number | null;
  stdout: string;
  stderr: string;
}

export interface ServerProcess extends BackOffice {
  /** The ready line, parsed. */
  ready: { event: string; api: string; admin: string; pid: number };
  /** `http://127.0.0.1:PORT/license/api/svc`, without the trailing slash. */
  api: string;
  pid: number;
  dataDir: string;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  stdout(): string;
  stderr(): string;
  /** All log lines on stderr that have these fields, once there are as many as `count`. */
  logLines(fields: Readonly<Record<string, unknown>>, count?: number): Promise<object[]>;
  /** Reads no more of what the server prints: its pipes are broken from now on. */
  closeOutput(): void;
  ended: Promise<ProcessEnd>;
  /** Sends the signal, SIGTERM unless given, and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<ProcessEnd>;
}

const running = new Set<ChildProcess>();
const directories: string[] = [];

let isOver = false;

/** The group, because a prefix may stay above the server as its parent. */
function killGroup({ pid }: ChildProcess): void {
  if (pid !== undefined) process.kill(-pid, 'SIGKILL');
}

/** Kills the servers that are left and removes the temporary directories. Programs outside Vitest call it at their end. */
export async function reap(): Promise<void> {
  // A test that ran out of time is still running, and must not start another server now.
  isOver = true;
  await Promise.all(
    [...running].map(async (child) => {
      const ended = once(child, 'close');
      killGroup(child);
      await ended;
    }),
  );
  for (const directory of directories.splice(0)) rmSync(directory, { recursive: true, force: true });
}

onEachFile({
  start() {
    isOver = false;
  },
  end: reap,
});
process.once('exit', () => {
  for (const child of running) killGroup(child);
});

/** A new directory for a test, removed at the end of the file; `name` for one whose name matters. */
export function temporaryDirectory(name = 'data'): string {
  const parent = mkdtempSync(join(tmpdir(), 'license-desk-process-'));
  directories.push(parent);
  const directory = join(parent, name);
  mkdirSync(directory, { mode: 0o700 });
  return directory;
}

interface Started {
  child: ChildProcess;
  stdout(): string;
  stderr(): string;
  /** Called at once and at every further output; the promise is fulfilled with its first result but undefined. */
  waitFor<Result>(look: () => Result | undefined): Promise<Result>;
  ended: Promise<ProcessEnd>;
}

function start({ dataDir, flags, env, prefix = [], program = SERVE, stderrFile }: ServeOptions): Started {
  if (isOver) throw new Error('the test file is over');
  const unlimited = { 'rate-limit-public': '0', 'rate-limit-activations': '0' };
  const settings = { 'data-dir': dataDir, port: '0', 'admin-port': '0', ...unlimited, ...flags };
  const words = Object.entries(settings).flatMap(([flag, value]) => [`--${flag}`, value]);
  // Settings of whoever runs the tests must not reach the server.
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('LICENSE_DESK_'));
  const [command = '', ...rest] = [...prefix, process.execPath, ...program, ...words];
  const errors = stderrFile === undefined ? 'pipe' : openSync(stderrFile, 'a');
  const child = spawn(command, rest, {
    env: { ...Object.fromEntries(ours), NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', errors],
    // A separate group, so that all of it can be ended.
    detached: true,
  });
  if (errors !== 'pipe') closeSync(errors);
  running.add(child);

  const output = { stdout: '', stderr: '' };
  const waiting = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      output[name] += chunk;
      for (const look of waiting) look();
    });
  }
  const ended = new Promise<ProcessEnd>((done, failed) => {
    child.once('error', failed);
    child.once('close', (code) => {
      running.delete(child);
      done({ code, ...output });
    });
  });
  return {
    child,
    ended,
    stdout: () => output.stdout,
    stderr: () => output.stderr,
    waitFor: (look) =>
      new Promise((done, failed) => {
        const tryNow = () => {
          const result = look();
          if (result === undefined) return;
          waiting.delete(tryNow);
          done(result);
        };
        waiting.add(tryNow);
        tryNow();
        ended.then(
          ({ code, stderr }) => failed(new Error(`the server ended with ${code}: ${stderr}`)),
          failed,
        );
      }),
  };
}

async function send(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, init);
  const text = await response.text();
  return {
    status: response.status,
    headers: response.headers,
    body: text === '' ? null : (JSON.parse(text) as unknown),
  };
}

/** Unless a test is about another program or database. */
async function prepareDatabase({ dataDir, flags, env, program = SERVE }: ServeOptions): Promise<void> {
  const isElsewhere = Object.keys({ ...flags, ...env }).some((name) => /database/iu.test(name));
  if (program === SERVE && !isElsewhere) await prepareNewDirectory(dataDir);
}

/** Starts the server and waits for its ready line. */
export async function startServerProcess(options: ServeOptions): Promise<ServerProcess> {
  await prepareDatabase(options);
  const { child, ended, stdout, stderr, waitFor } = start(options);
  const line = await within(
    'license-desk serve: start',
    waitFor(() => /^(.*)\n/u.exec(stdout())?.[1]),
    {
      onTimeout: () => {
        killGroup(child);
        return stderr();
      },
    },
  );
  const ready = JSON.parse(line) as ServerProcess['ready'];
  const api = ready.api.replace(/\/$/u, '');
  return {
    ready,
    api,
    ...backOfficeOf(options.dataDir),
    pid: ready.pid,
    dataDir: options.dataDir,
    get: (path, headers = {}) => send(api + path, { headers }),
    post: (path, body, headers = {}) =>
      send(api + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
    stdout,
    stderr,
    logLines: (fields, count = 1) =>
      waitFor(() => {
        // What stands after the last line's end is a line still being written.
        const lines = stderr().split('\n').slice(0, -1);
        const entries = lines
          .filter((text) => text.startsWith('{'))
          .map((text) => JSON.parse(text) as object);
        const found = entries.filter((entry) =>
          Object.entries(fields).every(([name, value]) => entry[name as keyof typeof entry] === value),
        );
        return found.length >= count ? found : undefined;
      }),
    closeOutput() {
      child.stdout?.destroy();
      child.stderr?.destroy();
    },
    ended,
    kill: async (signal = 'SIGTERM') => {
      // Whoever calls twice waits for the same end.
      if (child.exitCode === null && child.signalCode === null) process.kill(ready.pid, signal);
      return within(`license-desk serve: end after ${signal}`, ended, { onTimeout: stderr });
    },
  };
}

/** Starts a server that is expected to refuse, and waits for its end. */
export function serveToEnd(options: ServeOptions): Promise<ProcessEnd> {
  const { child, ended, stderr } = start(options);
  return within('license-desk serve: refusal', ended, {
    onTimeout: () => {
      killGroup(child);
      return stderr();
    },
  });
}

function afterChanges(dataDir: string, changes: number, act: () => void): FSWatcher {
  let left = changes;
  return watch(dataDir, () => {
    left -= 1;
    if (left === 0) act();
  });
}

/** Starts a server, and ends it as soon as it has changed the data directory that many times, or is ready. */
export async function killWhileStarting(
  options: ServeOptions,
  changes: number,
  signal: NodeJS.Signals = 'SIGKILL',
): Promise<ProcessEnd> {
  const { child, ended, stdout, waitFor } = start(options);
  const watcher = afterChanges(options.dataDir, changes, () => child.kill(signal));
  waitFor(() => (stdout() === '' ? undefined : child.kill(signal))).catch(() => {});
  const end = await ended;
  watcher.close();
  return end;
}

/** Starts a server, sends SIGHUP as soon as it has changed the data directory that many times, and stops it once it has obeyed. */
export async function hangUpWhileStarting(options: ServeOptions, changes: number): Promise<ProcessEnd> {
  const { child, ended, stdout, stderr, waitFor } = start(options);
  const watcher = afterChanges(options.dataDir, changes, () => child.kill('SIGHUP'));
  const isObeyed = () => stdout() !== '' && stderr().includes('"reopened the log files"');
  await within(
    'license-desk serve: start and SIGHUP',
    waitFor(() => isObeyed() || undefined),
    { onTimeout: stderr },
  );
  watcher.close();
  child.kill('SIGTERM');
  return within('license-desk serve: end', ended, { onTimeout: stderr });
}
