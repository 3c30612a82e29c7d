// The built server outside the test's process, on a data directory that vanishes with it.
import { type ChildProcess, execFile, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { copyMigratedDatabase } from '../helpers/migrated-database.ts';
import { freePort } from '../helpers/free-ports.ts';
import { within } from '../helpers/within.ts';

const project = resolve(import.meta.dirname, '../..');
// The Node that the product runs on, whichever one runs the tests.
const node = join(project, 'node_modules/node/bin', process.platform === 'win32' ? 'node.exe' : 'node');
const cli = join(project, 'out/main/cli.js');

interface Ready {
  api: string;
  admin: string;
  pid: number;
}

export interface TestServer {
  dataDir: string;
  /** Where the API's paths begin, with a slash at the end. */
  api: string;
  /** The page's origin. */
  origin: string;
  /** The address that the start printed, with its one-time code. */
  firstLink: string;
  /** Runs a command against this server; gives back its stdout. */
  cli(...args: string[]): Promise<string>;
  /** A fresh sign-in link. */
  link(): Promise<string>;
  /** Stops it from answering without closing anything, as a machine that swaps does. */
  pause(): void;
  resume(): void;
  /** Ends it as a power cut does. */
  crash(): Promise<void>;
  /** Starts it again on the same ports. */
  startAgain(): Promise<void>;
  dispose(): Promise<void>;
}

/** A process in which one server runs at a time (server-host.ts). */
interface Host {
  child: ChildProcess;
  /** What its present server has logged. */
  log: string;
}

/** Those whose servers have stopped. */
const idleHosts: Host[] = [];

/** Ports of pages whose servers have stopped. At the same address, Chromium need not compile the page's code again. */
const idlePorts: number[] = [];

function forkHost(): Host {
  const child = fork(join(import.meta.dirname, 'server-host.ts'), {
    execPath: node,
    // Not those of the runner, which loads TypeScript in its own way.
    execArgv: [],
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  });
  const host = { child, log: '' };
  child.stderr?.on('data', (chunk: Buffer) => {
    host.log += chunk.toString();
  });
  return host;
}

async function launch(args: string[]): Promise<{ host: Host; ready: Ready }> {
  const host = idleHosts.pop() ?? forkHost();
  host.log = '';
  const { child } = host;
  // Tests may have changed the environment since the process was started.
  child.send({ args, env: process.env });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const waiting = new AbortController();
  const firstLine = Promise.race([
    once(lines, 'line', waiting).then(([first]) => String(first)),
    once(child, 'exit', waiting).then(() => null),
  ]);
  const line = await within('license-desk serve: start', firstLine, {
    onTimeout: () => {
      child.kill('SIGKILL');
      return host.log;
    },
  });
  waiting.abort();
  lines.close();
  if (line === null) throw new Error(`the server did not start:\n${host.log}`);
  return { host, ready: JSON.parse(line) as Ready };
}

const hasEnded = ({ child }: Host) => child.exitCode !== null || child.signalCode !== null;

async function stopServer(host: Host): Promise<void> {
  const { child } = host;
  const waiting = new AbortController();
  const stopped = Promise.race([
    once(child, 'message', waiting).then(([message]) => (message as { code: number }).code),
    once(child, 'exit', waiting).then(() => null),
  ]);
  child.send('stop');
  const code = await within('license-desk serve: stop', stopped, { onTimeout: () => host.log });
  waiting.abort();
  if (code === 0) idleHosts.push(host);
  else child.kill();
}

/** The server inside the app, which restarts it and ends it. */
export async function serverOfApp(dataDir: string): Promise<TestServer> {
  const runtime = JSON.parse(readFileSync(join(dataDir, 'runtime.json'), 'utf8')) as {
    api: string;
    admin: string;
    pid: number;
  };
  const runCli = cliOn(dataDir);
  const link = () => runCli('open');
  return {
    dataDir,
    api: runtime.api,
    origin: runtime.admin,
    firstLink: await link(),
    cli: runCli,
    link,
    pause: () => void process.kill(runtime.pid, 'SIGSTOP'),
    resume: () => void process.kill(runtime.pid, 'SIGCONT'),
    crash: async () => void process.kill(runtime.pid, 'SIGKILL'),
    startAgain: async () => {},
    dispose: async () => {},
  };
}

function cliOn(dataDir: string): TestServer['cli'] {
  return async (...args) => {
    const command = promisify(execFile)(node, [cli, ...args, '--data-dir', dataDir]);
    const { stdout } = await within(`license-desk ${args.join(' ')}`, command, {
      onTimeout: () => (command.child.kill('SIGKILL') ? '(killed)' : '(it had ended, its streams had not)'),
    });
    return stdout.trim();
  };
}

/** @param flags of `serve` beyond what every test needs */
export async function startServer(flags: readonly string[] = []): Promise<TestServer> {
  const dataDir = mkdtempSync(join(tmpdir(), 'license-desk-e2e-'));
  await copyMigratedDatabase(dataDir);
  const inDataDir = ['--data-dir', dataDir];
  const pagePort = idlePorts.pop() ?? (await freePort());
  const onPagePort = ['--admin-port', String(pagePort)];
  let { host, ready } = await launch([...inDataDir, ...flags, '--port', '0', ...onPagePort]);
  const { api, admin } = ready;

  const runCli = cliOn(dataDir);

  return {
    dataDir,
    api,
    origin: new URL(admin).origin,
    firstLink: admin,
    cli: runCli,
    link: () => runCli('open'),
    pause: () => void host.child.kill('SIGSTOP'),
    resume: () => void host.child.kill('SIGCONT'),
    async crash() {
      const exited = once(host.child, 'exit');
      host.child.kill('SIGKILL');
      await within('license-desk serve: end after SIGKILL', exited);
    },
    async startAgain() {
      ({ host, ready } = await launch([...inDataDir, ...flags, '--port', new URL(api).port, ...onPagePort]));
    },
    async dispose() {
      // Whatever is paused would not hear of the end.
      host.child.kill('SIGCONT');
      if (!hasEnded(host)) await stopServer(host);
      rmSync(dataDir, { recursive: true, force: true });
      idlePorts.push(pagePort);
    },
  };
}
