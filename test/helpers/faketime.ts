// A clock that the test moves under a server's feet, by Debian's `faketime`.
import { execFileSync } from 'node:child_process';
import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryDirectory } from './server-process.ts';

export function hasFaketime(): boolean {
  try {
    execFileSync('faketime', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/**
 * The program `faketime` names a semaphore after its process, and does not start where one that was killed has left
 * that name. The library it loads copes with that. The dynamic linker knows what `$LIB` stands for.
 */
const PRELOAD = ['env', 'LD_PRELOAD=/usr/$LIB/faketime/libfaketime.so.1'];
// Timers run by the monotonic clock, which no administrator can set.
const TIMERS_ARE_RIGHT = ['FAKETIME_DONT_FAKE_MONOTONIC=1', 'NO_FAKE_STAT=1'];

function offset(days: number): string {
  return `${days < 0 ? '-' : '+'}${Math.round(Math.abs(days) * 86_400)}`;
}

/** @returns what the command line of a program starts with that is that many days ahead, or behind if negative */
export function daysAhead(days: number): string[] {
  return [...PRELOAD, `FAKETIME=${offset(days)}`, ...TIMERS_ARE_RIGHT];
}

/** @returns what the command line of a program starts with whose clock, and timers, run that many times too fast */
export function timesAsFast(speed: number): string[] {
  return [...PRELOAD, `FAKETIME=+0 x${speed}`];
}

export interface MovableClock {
  /** What the server's command line starts with. */
  prefix: string[];
  /** @param days how far ahead of the real time the server's is from now on, also while it runs */
  set(days: number): void;
}

export function movableClock(): MovableClock {
  const file = join(temporaryDirectory('clock'), 'offset');
  const set = (days: number) => {
    // Replaced as a whole: `faketime` ends a process that reads an empty file.
    writeFileSync(`${file}.new`, `${offset(days)}\n`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  const settings = [
    `FAKETIME_TIMESTAMP_FILE=${file}`,
    // Read anew at every look at the clock.
    'FAKETIME_NO_CACHE=1',
  ];
  return { prefix: [...PRELOAD, ...TIMERS_ARE_RIGHT, ...settings], set };
}
