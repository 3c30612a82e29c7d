// The command that runs while a seat is held: its streams are those of this process, signals are passed on to it.
import type { ChildProcess } from 'node:child_process';
import { constants } from 'node:os';

/** What someone who ends this process sends. Windows knows the first two. */
const PASSED_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const;

type PassedSignal = (typeof PASSED_SIGNALS)[number];

/** As shells and `env`, `timeout` and `nohup` report it. */
const COMMAND_NOT_FOUND = 127;
const COMMAND_NOT_EXECUTABLE = 126;
const SIGNAL_BASE = 128;

const KILL_AFTER_MS = 10_000;

export function exitCodeOfSignal(signal: NodeJS.Signals): number {
  return SIGNAL_BASE + constants.signals[signal];
}

export interface CommandEnd {
  exitCode: number;
  /** Why the command could not be started. */
  problem: string | null;
}

/** Any stream tells, because scripts redirect some of them and rarely all. */
function isAtTerminal(): boolean {
  return [process.stdin, process.stdout, process.stderr].some(({ isTTY }) => isTTY);
}

/**
 * Ctrl-C at a terminal reaches the command by itself, because it is in the same process group. Twice would end many
 * programs without their cleanup.
 */
function arrivesByItself(signal: PassedSignal): boolean {
  return signal !== 'SIGTERM' && isAtTerminal();
}

/** Node starts no batch files (CVE-2024-27980), and Windows looks for programs only: `npm` is a batch file there. */
const BATCH_FILE = /\.(?:cmd|bat)$/iu;

export function startProblem(
  command: string,
  { code, message }: NodeJS.ErrnoException,
  platform: NodeJS.Platform = process.platform,
): CommandEnd {
  const isMissing = code === 'ENOENT';
  const exitCode = isMissing ? COMMAND_NOT_FOUND : COMMAND_NOT_EXECUTABLE;
  const reason = code === 'EACCES' ? 'permission denied' : message;
  const problem = isMissing ? `${command}: command not found` : `cannot start ${command}: ${reason}`;
  const mayBeBatch = platform === 'win32' && (isMissing || BATCH_FILE.test(command));
  return {
    exitCode,
    problem: mayBeBatch ? `${problem}; start a batch file with -- cmd /c ${command}` : problem,
  };
}

/** Signals before the command has started, or while it runs. */
export interface SignalCatcher {
  /** The first signal that came while no command was there to receive it. */
  readonly first: NodeJS.Signals | null;
  /** Aborted by that signal. */
  readonly stopped: AbortSignal;
  /** Passes signals on from now. */
  passTo(child: ChildProcess): void;
  close(): void;
}

/** @param onFirst called with the first signal that comes while no command is there to receive it */
export function catchSignals(onFirst: (signal: NodeJS.Signals) => void): SignalCatcher {
  const stop = new AbortController();
  let first: NodeJS.Signals | null = null;
  let child: ChildProcess | null = null;
  const listeners = PASSED_SIGNALS.map((signal) => {
    const listener = () => {
      if (child) {
        if (!arrivesByItself(signal)) child.kill(signal);
        return;
      }
      if (first !== null) return;
      first = signal;
      onFirst(signal);
      stop.abort();
    };
    process.on(signal, listener);
    return { signal, listener };
  });
  return {
    get first() {
      return first;
    },
    stopped: stop.signal,
    passTo(started) {
      child = started;
    },
    close() {
      for (const { signal, listener } of listeners) process.off(signal, listener);
    },
  };
}

/** @param onStarted called with the process unless it cannot be started */
export async function runCommand(
  words: readonly string[],
  onStarted: (child: ChildProcess) => void,
): Promise<CommandEnd> {
  const [command = '', ...rest] = words;
  const { spawn } = await import('node:child_process');
  return new Promise((resolve) => {
    let child: ChildProcess;
    try {
      child = spawn(command, rest, { stdio: 'inherit' });
    } catch (error) {
      resolve(startProblem(command, error as NodeJS.ErrnoException));
      return;
    }
    child.once('error', (error) => {
      if (child.pid === undefined) resolve(startProblem(command, error));
    });
    child.once('spawn', () => onStarted(child));
    child.once('exit', (code, signal) =>
      resolve({ exitCode: signal === null ? (code ?? 0) : exitCodeOfSignal(signal), problem: null }),
    );
  });
}

/** Asks the command to end, and ends it if it does not. */
export function terminate(child: ChildProcess): void {
  child.kill('SIGTERM');
  const timer = setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS);
  timer.unref();
  child.once('exit', () => clearTimeout(timer));
}
