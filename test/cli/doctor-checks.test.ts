import { describe, expect, test } from 'vitest';
import {
  checkClock,
  checkDataDirectory,
  checkDiskSpace,
  checkLicenseKeys,
  checkNodeVersion,
  describeVersion,
} from '../../cli/doctor-checks.ts';

test.each([
  ['v24.21.0', true],
  ['v22.12.0', true],
  ['v24.0.0', true],
  ['v22.11.9', false],
  ['v20.20.0', false],
])('Node %s satisfies >=22.12: %s', (version, ok) => {
  expect(checkNodeVersion(version, '>=22.12').ok).toBe(ok);
});

test('a clock before 2025 is wrong', () => {
  expect(checkClock(Date.UTC(2025, 0, 1))).toMatchObject({ check: 'clock', ok: true });
  const wrong = checkClock(Date.UTC(2025, 0, 1) - 1);
  expect(wrong.ok).toBe(false);
  expect(wrong.detail).toContain('2024-12-31T23:59:59.999Z');
});

test.each([
  ['enough', 500_000_000, 100e9, true, '500 MB free'],
  ['little', 499_999_999, 100e9, true, 'warning: only 499 MB free'],
  ['almost none', 7_999_999, 100e9, false, '7 MB free; free some space, changes cannot be saved'],
  ['enough of a small volume', 60_000_000, 400e6, true, '60 MB free'],
  ['little of a small volume', 30_000_000, 400e6, true, 'warning: only 30 MB free'],
  [
    'almost none of a tiny volume',
    100_000,
    16e6,
    false,
    '0 MB free; free some space, changes cannot be saved',
  ],
])('%s disk space', (_how, free, total, ok, detail) => {
  expect(checkDiskSpace({ free, total })).toEqual({ check: 'disk_space', ok, detail });
});

test('a server that still runs the version from before an update is pointed out', () => {
  expect(describeVersion('1.2.0', '1.2.0')).toBe('version 1.2.0');
  expect(describeVersion('1.1.0', '1.2.0')).toBe(
    'version 1.1.0 (warning: 1.2.0 is installed; restart the server to run it)',
  );
});

test('license keys are made and read back', () => {
  expect(checkLicenseKeys()).toMatchObject({ check: 'license_keys', ok: true });
});

describe('the data directory', () => {
  const sound = { isDirectory: true, writable: true, mode: 0o40700 };

  test.each([
    ['is sound', sound, true, 'mode 0700'],
    ['has no permission bits', { ...sound, mode: null }, true, 'writable'],
    ['is missing', null, false, 'does not exist'],
    ['is a file', { ...sound, isDirectory: false }, false, 'not a directory'],
    ['cannot be written', { ...sound, writable: false }, false, 'cannot write'],
  ])('%s', (_case, facts, ok, detail) => {
    const check = checkDataDirectory('/srv/desk', facts, null);
    expect(check.ok).toBe(ok);
    expect(check.detail).toContain('/srv/desk');
    expect(check.detail).toContain(detail);
  });
});
