import { test } from 'vitest';
import { isLongLane } from './long-lane.ts';

/** Declares a test that only the file's long lane runs (scripts/long-lanes.mjs). `npm test` does not count it as skipped. */
export function longTest(name: string, work: () => Promise<void>): void {
  if (isLongLane) test(name, work);
}
