// One core for the bench and all that it starts. A server then finds the calls of all connections whenever its turn comes.
// With a core for the server and one for the load, how many calls share a turn of the event loop, and with it the CPU per
// call, depends on what else runs on the machine.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const set = (command: string, ...args: string[]) =>
  execFileSync(command, ['--all-tasks', ...args, String(process.pid)], {
    stdio: ['ignore', 'ignore', 'inherit'],
  });

let isShared = false;

export const sharesOneCore = (): boolean => isShared;

/** Keeps this process and those that it starts from now on to one core, where none interrupts another when it wakes up. */
export function shareOneCore(): void {
  const status = readFileSync('/proc/self/status', 'utf8');
  const core = /^Cpus_allowed_list:\s+(\d+)/mu.exec(status)?.[1] ?? '0';
  set('taskset', '--cpu-list', '--pid', core);
  set('chrt', '--batch', '--pid', '0');
  isShared = true;
}
