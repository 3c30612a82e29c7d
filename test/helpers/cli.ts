// Runs commands of the command line, in this process or in one of their own.
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import { EXIT_CODES } from '../../cli/exit-codes.ts';
import { runProgram } from '../../cli/program.ts';
import type { FailureEnvelope } from '#server/wire/errors.ts';
import { within } from './within.ts';

const project = resolve(import.meta.dirname, '../..');
const built = join(project, 'out/main/cli.js');
/** The build where there is one; Node runs the source just as well. */
export const CLI_PROGRAM = existsSync(built) ? built : join(project, 'cli/main.ts');

export interface CliResult {
  readonly stdout: string;
  readonly stderr: string;
  readonly exitCode: number | null;
}

export interface CliOptions {
  readonly env?: Readonly<Record<string, string>>;
  /** What is on stdin. */
  readonly input?: string;
}

interface SpawnOptions extends CliOptions {
  /** What the command line starts with, such as `setpriv`. */
  readonly prefix?: readonly string[];
  /** The working directory. */
  readonly cwd?: string;
}

/** Settings of whoever runs the tests must not reach the program. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const ours = Object.entries(process.env).filter(([name]) => !name.startsWith('LICENSE_DESK_'));
  return { ...Object.fromEntries(ours), NO_COLOR: '1' };
}

const stepOf = (words: readonly string[]) => `license-desk ${words.join(' ')}`;

function collector(): { stream: Writable; text(): string } {
  const parts: Buffer[] = [];
  const stream = new Writable({
    write(chunk: Buffer, _encoding, done) {
      parts.push(chunk);
      done();
    },
  });
  return { stream, text: () => Buffer.concat(parts).toString() };
}

/** Runs one command to its end in this process, which saves the start of another one. `serve` needs a separate process. */
export async function runCli(
  words: readonly string[],
  { env, input = '' }: CliOptions = {},
): Promise<CliResult> {
  const stdout = collector();
  const stderr = collector();
  let exitCode = 0;
  const program = runProgram(words, {
    stdin: Readable.from([input]),
    stdout: stdout.stream,
    stderr: stderr.stream,
    env: { ...cleanEnvironment(), ...env },
    setExitCode: (code) => {
      exitCode = code;
    },
  });
  await within(stepOf(words), program, { onTimeout: stderr.text });
  return { stdout: stdout.text(), stderr: stderr.text(), exitCode };
}

/** Runs one command to its end as its users do: the built file in a new process. */
export async function spawnCli(
  words: readonly string[],
  { env, input = '', prefix = [], cwd }: SpawnOptions = {},
): Promise<CliResult> {
  const [command = '', ...rest] = [...prefix, process.execPath, CLI_PROGRAM, ...words];
  const child = spawn(command, rest, {
    env: { ...cleanEnvironment(), ...env },
    ...(cwd === undefined ? {} : { cwd }),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  // A command that reads no input may be over before it has been written.
  child.stdin.on('error', () => {}).end(input);
  const exit = new Promise<number | null>((done, failed) => {
    child.once('error', failed);
    child.once('close', done);
  });
  const end = Promise.all([text(child.stdout), text(child.stderr), exit]);
  const [stdout, stderr, exitCode] = await within(stepOf(words), end, {
    onTimeout: () => (child.kill('SIGKILL') ? '(killed)' : '(it had ended, its streams had not)'),
  });
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
  /** The failure of a command that cannot be done. */
  fails(...words: string[]): Promise<FailureEnvelope>;
  /** The failure of a command that is wrong usage. */
  refuses(...words: string[]): Promise<FailureEnvelope>;
  /** The text a command prints for people. */
  prints(...words: string[]): Promise<string>;
}

function commandsOn(dataDir: string, runner: (words: readonly string[]) => Promise<CliResult>): Cli {
  const run = (words: readonly string[]) => runner([...words, '--data-dir', dataDir]);

  async function failure(exitCode: number, words: readonly string[]): Promise<FailureEnvelope> {
    const result = await run([...words, '--json']);
    const document = documentOf<FailureEnvelope>(result);
    expect(document.ok).toBe(false);
    expect(result).toMatchObject({ exitCode, stderr: `error: ${document.message}\n` });
    return document;
  }

  return {
    async ok<Reply extends object>(...words: string[]) {
      const result = await run([...words, '--json']);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      const reply = documentOf<Reply & { ok: true }>(result);
      expect(reply.ok).toBe(true);
      return reply;
    },
    fails: (...words) => failure(EXIT_CODES.failure, words),
    refuses: (...words) => failure(EXIT_CODES.usage, words),
    async prints(...words) {
      const result = await run(words);
      expect(result).toMatchObject({ exitCode: 0, stderr: '' });
      return result.stdout;
    },
  };
}

/** Commands in this process. */
export function cliOn(dataDir: string, options: CliOptions = {}): Cli {
  return commandsOn(dataDir, (words) => runCli(words, options));
}

/** Each command in a new process. */
export function spawnedCliOn(dataDir: string, options: SpawnOptions = {}): Cli {
  return commandsOn(dataDir, (words) => spawnCli(words, options));
}
