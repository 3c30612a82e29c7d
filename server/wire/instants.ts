// Times without schemas, which the back office uses too.

export const MINUTE_MS = 60_000;
export const DAY_MS = 86_400_000;

/** The latest time with a four-digit year; some people enter it for "never". Epoch milliseconds. */
export const LAST_MOMENT = Date.UTC(10_000, 0, 1) - 1;
