import * as fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parseRetryAfter, retryDelayMs } from '#server/features/webhooks/delivery-schedule.ts';

const MINUTE = 60_000;

describe('the delay after a failed attempt', () => {
  test.each([
    [1, 1],
    [2, 2],
    [3, 4],
    [4, 8],
    [5, 16],
  ])('number %i is %i units, at most 2 % more', (attempt, units) => {
    expect(retryDelayMs(attempt, MINUTE, null, () => 0)).toBe(units * MINUTE);
    expect(retryDelayMs(attempt, MINUTE, null, () => 1)).toBe(units * MINUTE * 1.02);
  });

  test('there is none after the sixth', () => {
    expect(retryDelayMs(6, MINUTE, null)).toBeNull();
    expect(retryDelayMs(6, MINUTE, 1000)).toBeNull();
    expect(retryDelayMs(7, MINUTE, null)).toBeNull();
  });

  test('is never early, never more than 2 % late, and whole', () => {
    const unit = fc.double({ min: 1, max: 1e9, noNaN: true });
    const chance = fc.double({ min: 0, max: 1, noNaN: true });
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), unit, chance, (attempt, unitMs, random) => {
        const base = unitMs * 2 ** (attempt - 1);
        const delay = retryDelayMs(attempt, unitMs, null, () => random)!;
        expect(Number.isInteger(delay)).toBe(true);
        expect(delay).toBeGreaterThanOrEqual(base);
        expect(delay).toBeLessThanOrEqual(Math.ceil(base) * 1.02);
      }),
    );
  });

  test.each([
    ['less than the delay changes nothing', 0, 1],
    ['less than the delay changes nothing', 0.5, 1],
    ['more is waited for', 1.5, 1.5],
    ['up to twice the delay', 2, 2],
    ['and no longer', 3600, 2],
    ['and no longer', Infinity, 2],
  ])('Retry-After: %s', (_what, asked, units) => {
    expect(retryDelayMs(3, MINUTE, asked * 4 * MINUTE, () => 0)).toBe(units * 4 * MINUTE);
  });

  test('varies at random', () => {
    const delays = Array.from({ length: 50 }, () => retryDelayMs(5, MINUTE, null));
    expect(new Set(delays).size).toBeGreaterThan(10);
  });
});

describe('Retry-After', () => {
  const now = Date.UTC(2026, 10, 20, 12, 0, 0);

  test.each([
    ['0', 0],
    ['120', 120_000],
    [' 7 ', 7000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
    ['Fri, 20 Nov 2026 12:02:00 GMT', 120_000],
    ['Friday, 20-Nov-26 12:02:00 GMT', 120_000],
    ['Fri Nov 20 12:02:00 2026', 120_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
  ])('%s is %i ms', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

  test.each([
    undefined,
    '',
    '-1',
    '1.5',
    '1e3',
    '0x10',
    'soon',
    'Fri, 99 Nov 2026 12:02:00 GMT',
    '2026-11-20',
    '120, 5',
  ])('%j is none', (header) => expect(parseRetryAfter(header, now)).toBeNull());
});
