// Whatever the back office can do, the command line can do.
import { readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { expect, test } from 'vitest';
import { adminContract } from '#server/contract.ts';

/** Rows without a command, each with the reason. */
const NOT_A_COMMAND: Readonly<Record<string, string>> = {
  signIn: 'exchanges a one-time code for a browser cookie; `open` prints the address with the code',
  signInHelp: 'shows those who cannot sign in yet which command to type: `open`',
  signOut: 'ends the browser session of its caller; `session end` ends any session',
  showFirstRun: 'decides whether the back office shows its introduction',
  finishFirstRun: 'hides the introduction of the back office',
  overviewTrend: 'course of the figures on the first screen; stats prints them for any period',
  overview: 'first screen; stats, license list, events list, cert crl and audit list print its figures',
  uploadBackup: 'brings a file from the browser; `restore` reads it where it is',
  previewRestore: '`restore` previews the file before it asks',
  confirmRestore: '`restore` puts the backup in place itself, while no server runs',
  cancelRestore: '`restore` keeps nothing unless it is confirmed',
  healthLive: 'answers as soon as a process listens; `doctor` calls health and healthReady',
};

const folder = resolve(import.meta.dirname, '../../cli');
const source = readdirSync(folder, { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(folder, name), 'utf8'))
  .join('\n');
const used = new Set(
  [...source.matchAll(/\bclient\.(\w+)\(|\.download\(\s*'(\w+)'/gu)].map(
    ([, called, file]) => called ?? file,
  ),
);

test.each(Object.keys(adminContract))('%s has a command, or a reason to have none', (row) => {
  const advice =
    row in NOT_A_COMMAND
      ? `a command calls ${row}: remove it from NOT_A_COMMAND in this test`
      : `no command calls client.${row}(): add one in cli/commands/, or a reason to NOT_A_COMMAND in this test`;
  expect(used.has(row), advice).toBe(!(row in NOT_A_COMMAND));
});

test('every reason is about a row of the contract', () => {
  const gone = Object.keys(NOT_A_COMMAND).filter((row) => !(row in adminContract));
  expect(gone, 'remove these from NOT_A_COMMAND in this test').toEqual([]);
});
