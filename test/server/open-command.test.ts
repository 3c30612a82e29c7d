import { expect, test } from 'vitest';
import { openCommand, quoted } from '#server/installation/open-command.ts';

test('names the data directory only if it is not the default one', () => {
  expect(openCommand(null, false)).toBe('license-desk open');
  expect(openCommand('/srv/desk', false)).toBe('license-desk open --data-dir /srv/desk');
  expect(openCommand('/srv/desk', true)).toBe('npm run -s cli -- open --data-dir /srv/desk');
});

test.each([
  ['/srv/desk-1', 'linux', '/srv/desk-1'],
  ['/srv/My Desk', 'linux', "'/srv/My Desk'"],
  ["/srv/O'Brien", 'linux', String.raw`'/srv/O'\''Brien'`],
  ['/srv/$HOME', 'darwin', "'/srv/$HOME'"],
  [String.raw`C:\desk`, 'win32', String.raw`C:\desk`],
  [String.raw`C:\My Desk`, 'win32', String.raw`"C:\My Desk"`],
] as const)('quotes %s for %s', (path, platform, text) => {
  expect(quoted(path, platform)).toBe(text);
});
