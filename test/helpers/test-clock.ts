import type { Clock } from '#server/platform/clock.ts';

/** A clock that stands still until a test moves it. */
export interface TestClock extends Clock {
  /** @param ms how far ahead, or back if negative */
  advance(ms: number): void;
  set(ms: number): void;
}

/** @param start epoch milliseconds; the real time unless given */
export function createTestClock(start: number = Date.now()): TestClock {
  let now = start;
  return {
    now: () => now,
    advance: (ms) => {
      now += ms;
    },
    set: (ms) => {
      now = ms;
    },
  };
}
