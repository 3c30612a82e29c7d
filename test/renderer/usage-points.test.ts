import { expect, test } from 'vitest';
import { usagePoints, usageTotals } from '../../renderer/src/features/floating/usage-points.ts';

const DAY = 86_400_000;
const NOW = Date.UTC(2026, 10, 26, 1);
const MIDNIGHT = NOW - 3_600_000;
const used = { peak: 100, needed: 100, average: 100, denied: 0, queued: 0 };
const iso = (at: number) => new Date(at).toISOString();

/** The reply at 01:00, with 100 seats in use since midnight. */
const usageFrom = (from: number) => ({
  license_id: 1,
  from: iso(from),
  to: iso(NOW),
  pool: null,
  hours: [{ hour: iso(MIDNIGHT), ...used }],
  days: [{ day: '2026-11-26', ...used }],
});

test('a day that has just begun weighs as much in the average as has passed of it', () => {
  const usage = usageFrom(MIDNIGHT - 6 * DAY);
  expect(usagePoints(usage, 'hour')).toHaveLength(145);
  expect(usagePoints(usage, 'day')).toHaveLength(7);
  for (const by of ['hour', 'day'] as const)
    expect(usageTotals(usagePoints(usage, by))).toEqual({ ...used, average: 0.69 });
});

test('so does the part of the first day that is in the period', () => {
  const usage = usageFrom(NOW - DAY);
  for (const by of ['hour', 'day'] as const) expect(usageTotals(usagePoints(usage, by)).average).toBe(4.17);
});
