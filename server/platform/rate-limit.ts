// Rate limits in fixed windows of one minute, and the headers that describe them (contract, section 8).
import { ApiError } from '#server/wire/errors.ts';

const WINDOW_MS = 60_000;

export interface RateWindow {
  /** Epoch milliseconds. */
  startedAt: number;
}

/** A window in the future has also ended: setting the clock back must not extend a limit. */
export function isCurrent({ startedAt }: RateWindow, now: number): boolean {
  return now >= startedAt && now - startedAt < WINDOW_MS;
}

/** Whole seconds until the window ends, at least 1. */
export function secondsLeft({ startedAt }: RateWindow, now: number): number {
  return Math.ceil((startedAt + WINDOW_MS - now) / 1000);
}

/** The headers of draft-ietf-httpapi-ratelimit-headers-06. */
export function rateLimitHeaders(
  limit: number,
  remaining: number,
  resetSeconds: number,
): Record<string, string> {
  return {
    'RateLimit-Policy': `${limit};w=${WINDOW_MS / 1000}`,
    'RateLimit-Limit': String(limit),
    'RateLimit-Remaining': String(remaining),
    'RateLimit-Reset': String(resetSeconds),
  };
}

/** @param unit what is limited: `calls`, `new devices` */
export function rateLimited(limit: number, unit: string, resetSeconds: number): ApiError {
  return new ApiError(
    'rate_limited',
    `the limit for ${unit} is ${limit} per minute; retry after ${resetSeconds} s`,
    {
      headers: { 'Retry-After': String(resetSeconds), ...rateLimitHeaders(limit, 0, resetSeconds) },
    },
  );
}
