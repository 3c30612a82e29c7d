// The built server in a separate process, on a data directory that vanishes with it.
import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { copyMigratedDatabase } from '../helpers/migrated-database.ts';
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

async function launch(args: string[]): Promise<{ child: ChildProcess; ready: Ready }> {
  const child = spawn(node, [cli, 'serve', ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  let log = '';
  child.stderr?.on('data', (chunk: Buffer) => {
    log += chunk.toString();
  });
  const lines = createInterface({ input: child.stdout ?? process.stdin });
  const firstLine = Promise.race([
    once(lines, 'line').then(([first]) => String(first)),
    once(child, 'exit').then(() => null),
  ]);
  const line = await within('license-desk serve: start', firstLine, {
    onTimeout: () => {
      child.kill('SIGKILL');
      return log;
    },
  });
  if (line === null) throw new Error(`the server did not start:\n${log}`);
  return { child, ready: JSON.parse(line) as Ready };
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
  let { child, ready } = await launch([...inDataDir, ...flags, '--port', '0', '--admin-port', '0']);
  const { api, admin } = ready;
  const { origin, port: adminPort } = new URL(admin);

  const runCli = cliOn(dataDir);

  async function end(signal: NodeJS.Signals): Promise<void> {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill(signal);
    await within(`license-desk serve: end after ${signal}`, exited);
  }

  return {
    dataDir,
    api,
    origin,
    firstLink: admin,
    cli: runCli,
    link: () => runCli('open'),
    pause: () => void child.kill('SIGSTOP'),
    resume: () => void child.kill('SIGCONT'),
    crash: () => end('SIGKILL'),
    async startAgain() {
      ({ child, ready } = await launch([
        ...inDataDir,
        ...flags,
        '--port',
        new URL(api).port,
        '--admin-port',
        adminPort,
      ]));
    },
    async dispose() {
      // Whatever is paused would not hear of the end.
      child.kill('SIGCONT');
      await end('SIGTERM');
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
