// When the daily backup is due, in time zones whose clocks change.
import { afterAll, describe, expect, test } from 'vitest';
import { type BackupHistory, nextBackupAt } from '#server/features/backup/backup-schedule.ts';

const zone = process.env['TZ'];
afterAll(() => {
  if (zone === undefined) delete process.env['TZ'];
  else process.env['TZ'] = zone;
});

const at = (text: string) => Date.parse(text);
const NEVER: BackupHistory = { succeededAt: null, failed: null };
const after = (text: string): BackupHistory => ({ succeededAt: at(text), failed: null });

function next(now: string, hour: number, history: BackupHistory): string {
  return new Date(nextBackupAt(at(now), hour, history)).toISOString();
}

describe('in Berlin', () => {
  process.env['TZ'] = 'Europe/Berlin';

  test.each([
    ['the first one is due at once', '2026-06-10T12:00:00Z', 3, NEVER, '2026-06-10T01:00:00.000Z'],
    [
      'the next one is tomorrow',
      '2026-06-10T01:00:30Z',
      3,
      after('2026-06-10T01:00:05Z'),
      '2026-06-11T01:00:00.000Z',
    ],
    [
      'or later today, after one by hand',
      '2026-06-10T00:00:00Z',
      3,
      after('2026-06-09T22:00:00Z'),
      '2026-06-10T01:00:00.000Z',
    ],
    [
      'one that the computer slept through is due',
      '2026-06-10T07:00:00Z',
      3,
      after('2026-06-09T01:00:05Z'),
      '2026-06-10T01:00:00.000Z',
    ],
    [
      'and of many such days, only the last',
      '2026-06-10T07:00:00Z',
      3,
      after('2026-05-01T01:00:05Z'),
      '2026-06-10T01:00:00.000Z',
    ],
    // On 29 March 2026, 02:00 to 03:00 do not exist.
    [
      'a skipped hour counts as the one after it',
      '2026-03-29T00:30:00Z',
      2,
      after('2026-03-28T01:00:05Z'),
      '2026-03-29T01:00:00.000Z',
    ],
    [
      'and the next day is on time again',
      '2026-03-29T01:01:00Z',
      2,
      after('2026-03-29T01:00:05Z'),
      '2026-03-30T00:00:00.000Z',
    ],
    // On 25 October 2026, 02:00 to 03:00 come twice.
    [
      'of a repeated hour, the first counts',
      '2026-10-25T00:00:00Z',
      2,
      after('2026-10-24T00:00:05Z'),
      '2026-10-25T00:00:00.000Z',
    ],
    [
      'and not the second',
      '2026-10-25T01:00:00Z',
      2,
      after('2026-10-25T00:00:05Z'),
      '2026-10-26T01:00:00.000Z',
    ],
    [
      'a clock that goes back by minutes repeats nothing',
      '2026-06-10T00:50:00Z',
      3,
      after('2026-06-10T01:00:05Z'),
      '2026-06-10T01:00:00.000Z',
    ],
    [
      'a time from a clock that was years ahead does not count',
      '2026-06-10T12:00:00Z',
      3,
      after('2031-01-01T01:00:05Z'),
      '2026-06-10T01:00:00.000Z',
    ],
  ])('%s', (_name, now, hour, history, expected) => {
    expect(next(now, hour, history)).toBe(expected);
  });

  test.each([
    [1, 5],
    [2, 10],
    [4, 40],
    [5, 60],
    [99, 60],
  ])('after %i failures it is tried again within %i minutes', (attempts, minutes) => {
    const failed = { at: at('2026-06-10T01:00:00Z'), attempts };
    const history = { ...after('2026-06-09T01:00:05Z'), failed };
    const expected = new Date(failed.at + minutes * 60_000).toISOString();
    expect(next('2026-06-10T01:01:00Z', 3, history)).toBe(expected);
    // Set back before the failure, the clock does not delay it.
    expect(next('2026-06-10T00:00:00Z', 3, history)).toBe('2026-06-10T00:00:00.000Z');
  });
});
