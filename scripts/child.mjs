/** Runs child processes, passes on signals and exit codes, and leaves no processes behind. */
import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { root, toolEnvironment } from './paths.mjs';

/**
 * For children whose messages must not mix with the stdout of the command that asked.
 *
 * @type {import('node:child_process').StdioOptions}
 */
export const OUTPUT_TO_STDERR = ['ignore', 2, 2];

/** How long the processes of a group have to stop what they have started. */
const GRACE_MS = 5000;

const FORWARDED = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/**
 * @typedef {object} Outcome
 * @property {number} code exit code; 128 + signal number when a signal ended it, as a shell reports it
 * @property {boolean} interrupted whether this process received a stop signal while the child ran
 *
 * @typedef {object} Options
 * @property {import('node:child_process').StdioOptions} [stdio] default: inherited
 * @property {boolean} [shell]
 * @property {string} [cwd] default: the root of the checkout
 * @property {NodeJS.ProcessEnv} [env] added to the tools' environment
 * @property {boolean} [ownGroup] run it in a process group, and end the processes that it leaves behind
 * @property {number} [timeoutMs] end it after this long, with SIGTERM first; needs ownGroup
 * @property {(child: import('node:child_process').ChildProcess) => void} [onSpawn]
 */

/**
 * @param {number | null} code
 * @param {NodeJS.Signals | null} signal
 */
function exitCode(code, signal) {
  return code ?? (signal ? 128 + constants.signals[signal] : 1);
}

/**
 * Sends a signal to a process group.
 *
 * @param {number | undefined} pid
 * @param {NodeJS.Signals | 0} signal 0 only checks the group
 * @returns {boolean} whether the group has a process
 */
function signalGroup(pid, signal) {
  if (pid === undefined) return false;
  try {
    return process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/**
 * Waits until all processes of a group have ended, for the grace period at most.
 *
 * @param {number | undefined} pid
 */
async function untilGroupEnds(pid) {
  const deadline = Date.now() + GRACE_MS;
  while (signalGroup(pid, 0) && Date.now() < deadline) await sleep(50);
}

/**
 * Runs a command with the installed Node and tools first on PATH, handing SIGINT, SIGTERM and SIGHUP on to it.
 * Rejects only when it cannot be started.
 *
 * @param {string} command
 * @param {readonly string[]} args
 * @param {Options} [options]
 * @returns {Promise<Outcome>}
 */
export function run(command, args, options = {}) {
  const ownGroup = options.ownGroup === true && process.platform !== 'win32';
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: options.cwd ?? root,
      env: { ...toolEnvironment(), ...options.env },
      stdio: options.stdio ?? 'inherit',
      shell: options.shell ?? false,
      detached: ownGroup,
    });
    options.onSpawn?.(child);

    /** @type {NodeJS.Timeout | undefined} */
    let forced;
    const endGroup = () => {
      signalGroup(child.pid, 'SIGTERM');
      forced = setTimeout(() => signalGroup(child.pid, 'SIGKILL'), GRACE_MS);
    };
    const timer = options.timeoutMs && setTimeout(endGroup, options.timeoutMs);
    let interrupted = false;
    const forward = FORWARDED.map((signal) => {
      const listener = () => {
        interrupted = true;
        if (ownGroup) signalGroup(child.pid, signal);
        // Ctrl+C in a terminal reaches the whole foreground group. A second signal could interrupt a clean stop.
        else if (signal !== 'SIGINT' || !process.stdin.isTTY) child.kill(signal);
      };
      process.on(signal, listener);
      return { signal, listener };
    });
    const settle = () => {
      clearTimeout(timer);
      for (const { signal, listener } of forward) process.off(signal, listener);
    };

    child.once('error', (error) => {
      settle();
      reject(error);
    });
    child.once('exit', async (code, signal) => {
      if (ownGroup && interrupted) await untilGroupEnds(child.pid);
      settle();
      // After a time limit, the rest of the group has its grace period.
      if (ownGroup && !forced) signalGroup(child.pid, 'SIGKILL');
      resolve({ code: exitCode(code, signal), interrupted });
    });
  });
}

/**
 * Rejects like `Promise.all`, but only when none of them is running any more.
 *
 * @param {readonly Promise<void>[]} running
 */
export async function untilAllEnd(running) {
  await Promise.allSettled(running);
  await Promise.all(running);
}
