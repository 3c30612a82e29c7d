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

/** @returns what the command line of a server starts with that is that many days ahead */
export function daysAhead(days: number): string[] {
  return ['faketime', '-f', `+${days * 86_400}`, 'env', 'FAKETIME_DONT_FAKE_MONOTONIC=1', 'NO_FAKE_STAT=1'];
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
    writeFileSync(`${file}.new`, `${days < 0 ? '-' : '+'}${Math.round(Math.abs(days) * 86_400)}\n`);
    renameSync(`${file}.new`, file);
  };
  set(0);
  const settings = [
    `FAKETIME_TIMESTAMP_FILE=${file}`,
    // Read anew at every look at the clock.
    'FAKETIME_NO_CACHE=1',
    // Timers run by the monotonic clock, which no administrator can set.
    'FAKETIME_DONT_FAKE_MONOTONIC=1',
    'NO_FAKE_STAT=1',
  ];
  // FAKETIME itself, which the wrapper sets, would outrank the file.
  return { prefix: ['faketime', '-f', '+0', 'env', '-u', 'FAKETIME', ...settings], set };
}
