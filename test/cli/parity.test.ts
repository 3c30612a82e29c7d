// Whatever the back office can do, the command line can do.
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
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

const FOR_SPREADSHEETS = {
  separator: 'for downloads that a spreadsheet opens; scripts read commas in every locale',
  bom: 'for downloads that a spreadsheet opens; scripts read UTF-8',
};

/** Fields of requests that no command sends, each with the reason. */
const NOT_SENT: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  renewLicense: {
    if_expires_at:
      'protects a renewal from changes since the page showed the expiry date; a command has not shown one',
  },
  retryFailedDeliveries: { ids: 'rows selected on the page; `events retry` takes one ID, or --all' },
  updatePlan: { id: '`plan update` takes the name' },
  deletePlan: { id: '`plan delete` takes the name' },
  revocationList: { format: '`cert crl` prints PEM, which OpenSSL converts' },
  exportLicenses: FOR_SPREADSHEETS,
  exportAudit: FOR_SPREADSHEETS,
  downloadImportResult: FOR_SPREADSHEETS,
  updateLeaseRule: { match_changes: 'the match options replace the earlier ones' },
};

const folder = resolve(import.meta.dirname, '../../cli');
const sources = new Map(
  readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => [name, readFileSync(join(folder, name), 'utf8')]),
);

const callsOf = (source: string) =>
  [...source.matchAll(/\bclient\.(\w+)\(|\.download\(\s*'(\w+)'/gu)].map(
    ([, called, file]) => called ?? file ?? '',
  );
const used = new Set([...sources.values()].flatMap(callsOf));

/** The files that call a row, with those that they import from: options that several commands have are in a file of their own. */
function sourceAround(row: string): string {
  const callers = [...sources].filter(([, source]) => callsOf(source).includes(row));
  const imported = callers.flatMap(([name, source]) =>
    [...source.matchAll(/from '(\.[^']+)'/gu)].map(([, path = '']) => sources.get(join(dirname(name), path))),
  );
  return [...callers.map(([, source]) => source), ...imported].join('\n');
}

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

test.each([...used].filter((row) => row in adminContract))(
  'the command that calls %s sends every field',
  (row) => {
    const { shape } = adminContract[row as keyof typeof adminContract].request;
    const source = sourceAround(row);
    const missing = Object.keys(shape).filter((field) => !new RegExp(`\\b${field}\\b`, 'u').test(source));
    expect(missing, 'add an option for it in cli/commands/, or a reason to NOT_SENT in this test').toEqual(
      Object.keys(NOT_SENT[row] ?? {}),
    );
  },
);
