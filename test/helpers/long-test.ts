import { test } from 'vitest';
import { isLongLane } from './long-lane.ts';

/** A test that `npm test` leaves to the lane of its file (scripts/long-lanes.mjs), and does not count as skipped. */
export function longTest(name: string, work: () => Promise<void>): void {
  if (isLongLane) test(name, work);
}
