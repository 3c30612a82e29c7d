// When a server that died is started again.

const FIRST_DELAY_MS = 250;
const MOST_FAILURES = 5;
const WITHIN_MS = 60_000;

/** The failures that still count. */
export function recentFailures(failures: readonly number[], now: number): number[] {
  return failures.filter((failure) => now - failure < WITHIN_MS);
}

/**
 * @param recent how many failures there were in the last minute, the newest included
 * @returns milliseconds to wait, doubling with each failure; null when it is time to give up
 */
export function restartDelay(recent: number): number | null {
  return recent >= MOST_FAILURES ? null : FIRST_DELAY_MS * 2 ** Math.max(0, recent - 1);
}
