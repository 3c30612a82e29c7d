// One core for the bench and all that it starts. A server then finds the calls of all connections whenever its turn comes.
// With a core for the server and one for the load, how many calls share a turn of the event loop, and with it the CPU per
// call, depends on what else runs on the machine.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

const set = (command: string, ...args: string[]) =>
  execFileSync(command, ['--all-tasks', ...args, String(process.pid)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

const allowedCores = (): string => {
  const status = readFileSync('/proc/self/status', 'utf8');
  return /^Cpus_allowed_list:\s+(\S+)/mu.exec(status)?.[1] ?? '0';
};

const ALL_CORES = allowedCores();
let isShared = false;

export const sharesOneCore = (): boolean => isShared;

/** Keeps this process and those that it starts from now on to one core, where none interrupts another when it wakes up. */
export function shareOneCore(): void {
  set('taskset', '--cpu-list', '--pid', /^\d+/u.exec(ALL_CORES)?.[0] ?? '0');
  set('chrt', '--batch', '--pid', '0');
  isShared = true;
}

/** Does the work beside a program that never pauses, on whichever core the scheduler chooses. */
export async function besideBusyProgram<Result>(work: () => Promise<Result>): Promise<Result> {
  const program = [process.execPath, '-e', 'for (;;);'];
  const child = spawn('taskset', ['--cpu-list', ALL_CORES, 'chrt', '--other', '0', ...program], {
    stdio: 'ignore',
  });
  const exited = once(child, 'exit');
  const kill = () => child.kill('SIGKILL');
  process.once('exit', kill);
  try {
    return await work();
  } finally {
    kill();
    process.off('exit', kill);
    await exited;
  }
}
