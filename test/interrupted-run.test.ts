// An interrupted test run leaves no servers, apps or mounts behind. Ctrl+C does not reach the servers' own process groups.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { constants } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect, it } from 'vitest';
import { eventually } from './helpers/eventually.ts';
import type { Running } from './helpers/interrupted-run.ts';
import { within } from './helpers/within.ts';

const PROGRAM = join(import.meta.dirname, 'helpers/interrupted-run.ts');
const GROUP = join(import.meta.dirname, 'helpers/interrupted-group.ts');

function runningOf(pids: readonly number[]): number[] {
  const present = new Set(readdirSync('/proc'));
  return pids.filter((pid) => present.has(String(pid)));
}

it.skipIf(process.platform !== 'linux').each(['SIGINT', 'SIGTERM'] as const)(
  'stops its servers and apps and unmounts its disks on %s',
  async (signal) => {
    const run = fork(PROGRAM, { execArgv: [] });
    const [{ pids, disk }] = (await within('the start', once(run, 'message'))) as [Running];
    expect(runningOf(pids)).toEqual(pids);
    run.kill(signal);
    const [code] = (await within('the end', once(run, 'exit'))) as [number | null];
    expect(code).toBe(128 + constants.signals[signal]);
    await eventually(() => expect(runningOf(pids)).toEqual([]));
    // Mounting requires root.
    if (disk !== null) expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(disk);
  },
);

it.skipIf(process.platform === 'win32')('waits for processes that are still stopping others', async () => {
  const run = fork(GROUP, { execArgv: [], stdio: ['ignore', 'pipe', 'inherit', 'ipc'] });
  const lines = createInterface(run.stdout!);
  await within('the start', once(lines, 'line'));
  const last = once(lines, 'line');
  run.kill('SIGINT');
  // Unlike `exit`, `close` comes after all output.
  expect(await within('the end', Promise.race([last, once(run, 'close')]))).toEqual(['ended']);
});
