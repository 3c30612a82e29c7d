// When a server that died is started again, and a page that crashed is loaded again.

const FIRST_DELAY_MS = 250;
const MAX_FAILURES = 5;
const FAILURE_WINDOW_MS = 60_000;

/** @returns the failures that still count, and the one of now */
export function withFailure(failures: readonly number[], now: number): number[] {
  return [...failures.filter((failure) => now - failure < FAILURE_WINDOW_MS), now];
}

/**
 * @param recent the number of failures in the last minute, including the newest
 * @returns milliseconds to wait, doubling with each failure; null to give up
 */
export function restartDelay(recent: number): number | null {
  return recent >= MAX_FAILURES ? null : FIRST_DELAY_MS * 2 ** Math.max(0, recent - 1);
}
