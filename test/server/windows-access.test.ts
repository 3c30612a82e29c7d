// Access control lists, as PowerShell prints them on Windows.
import { expect, test } from 'vitest';
import { exposedOnWindows, groupsWithAccess } from '#server/installation/windows-access.ts';

const OWNER = 'S-1-5-21-1004336348-1177238915-682003330-1001';
/** Of a folder in %LOCALAPPDATA%: SYSTEM, Administrators, and the user. */
const PRIVATE = `Allow|S-1-5-18|2032127\r\nAllow|S-1-5-32-544|2032127\r\nAllow|${OWNER}|2032127\r\n`;
/** Of a folder that was created in the root of a disk. */
const IN_ROOT = `${PRIVATE}Allow|S-1-5-32-545|1179817\r\nAllow|S-1-5-11|1245631\r\nAllow|S-1-5-11|1245631\r\n`;

test('a folder in the profile is open to no one else', async () => {
  expect(await exposedOnWindows(String.raw`C:\Users\Ada`, async () => PRIVATE)).toBeNull();
});

test('a folder in the root of a disk is open to all users, and the commands that close it are named', async () => {
  const path = String.raw`D:\License Desk`;
  expect(await exposedOnWindows(path, async () => IN_ROOT)).toBe(
    String.raw`other users can read or change D:\License Desk; run: icacls "D:\License Desk" /inheritance:d, then: icacls "D:\License Desk" /remove:g *S-1-5-32-545 *S-1-5-11`,
  );
});

test.each([
  ['Domain Users', 'Allow|S-1-5-21-1004336348-1177238915-682003330-513|131209', 1],
  ['generic rights', 'Allow|S-1-1-0|-2147483648', 1],
  ['the right to list attributes only', 'Allow|S-1-5-32-545|1048704', 0],
  ['a denial', 'Deny|S-1-5-32-545|2032127', 0],
  ['another user', 'Allow|S-1-5-21-1004336348-1177238915-682003330-1513|2032127', 0],
  ['nothing', '', 0],
])('%s', (_name, entries, count) => {
  expect(groupsWithAccess(entries)).toHaveLength(count);
});
