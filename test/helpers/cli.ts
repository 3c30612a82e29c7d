// Runs the command line as its users do: as a process of its own.
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { FailureEnvelope } from '../../server/platform/errors.ts';

const project = resolve(import.meta.dirname, '../..');
const built = join(project, 'out/main/cli.js');
/** The build where there is one; Node runs the source just as well. */
const program = existsSync(built) ? built : join(project, 'cli/main.ts');

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is on stdin. */
  readonly input?: string;
  readonly cwd?: string;
}

/** Settings of whoever runs the tests must not reach the program. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('LICENSE_DESK_'));
  return { ...Object.fromEntries(ours), NO_COLOR: '1' };
}

function start(words: readonly string[], { env, cwd }: CliOptions) {
  return spawn(process.execPath, [program, ...words], {
    env: { ...cleanEnvironment(), ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(cwd === undefined ? {} : { cwd }),
  });
}

/** Runs one command to its end. */
export async function runCli(words: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const child = start(words, options);
  child.stdin.end(options.input ?? '');
  const exit = new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  const [stdout, stderr, exitCode] = await Promise.all([text(child.stdout), text(child.stderr), exit]);
  return { stdout, stderr, exitCode };
}

/** What a command with `--json` prints: one document and nothing else. */
export function documentOf<Document = Record<string, unknown>>({ stdout }: CliResult): Document {
  expect(stdout).toMatch(/^\{.*\}\n$/u);
  return JSON.parse(stdout) as Document;
}

/** The program on one data directory, and what its commands print with `--json`. */
export interface Cli {
  /** The reply of a command that succeeds. */
  ok<Reply extends object>(...words: string[]): Promise<Reply & { ok: true }>;
  /** The failure of a command that fails with exit code 1, or the one given first. */
  fails(...words: [number, ...string[]] | string[]): Promise<FailureEnvelope>;
  /** The text a command prints for people. */
  prints(...words: string[]): Promise<string>;
}

export function cliOn(dataDir: string, options: CliOptions = {}): Cli {
  const run = (words: readonly string[]) => runCli([...words, '--data-dir', dataDir], options);
  return {
    async ok<Reply extends object>(...words: string[]) {
      const result = await run([...words, '--json']);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      const reply = documentOf<Reply & { ok: true }>(result);
      expect(reply.ok).toBe(true);
      return reply;
    },
    async fails(...given) {
      const [exitCode, words] =
        typeof given[0] === 'number' ? [given[0], given.slice(1) as string[]] : [1, given as string[]];
      const result = await run([...words, '--json']);
      const failure = documentOf<FailureEnvelope>(result);
      expect(result.exitCode).toBe(exitCode);
      expect(failure.ok).toBe(false);
      expect(result.stderr).toBe(`error: ${failure.message}\n`);
      return failure;
    },
    async prints(...words) {
      const result = await run(words);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      return result.stdout;
    },
  };
}

export interface ServeProcess {
  /** The ready line. */
  readonly ready: { event: string; api: string; admin: string; pid: number };
  /** Sends a SIGTERM; gives the exit code, and all that was on stdout. */
  stop(): Promise<{ exitCode: number | null; stdout: string }>;
}

/** Starts `serve` on free ports and waits until it is ready. */
export async function startServe(dataDir: string, words: readonly string[] = []): Promise<ServeProcess> {
  const child = start(['serve', '--data-dir', dataDir, '--port', '0', '--admin-port', '0', ...words], {});
  const exit = new Promise<number | null>((done) => {
    child.once('close', done);
  });
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
    stderr += chunk;
  });
  const line = await new Promise<string>((done, failed) => {
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
      if (stdout.includes('\n')) done(stdout.slice(0, stdout.indexOf('\n')));
    });
    void exit.then((code) => failed(new Error(`serve ended with ${code} before it was ready: ${stderr}`)));
  });
  return {
    ready: JSON.parse(line) as ServeProcess['ready'],
    async stop() {
      child.kill('SIGTERM');
      return { exitCode: await exit, stdout };
    },
  };
}

/** A folder of its own for a test; `remove` it at its end. */
export function temporaryFolder(): { path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'license-desk-cli-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}
