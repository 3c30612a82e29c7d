// Long work in the thread pool, one piece after the other: the database uses the same few threads and must find one free.
import { callerGone, type Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';

export interface Turn {
  /** How long the work takes, in milliseconds. */
  estimateMs: number;
  /** Who waits for it: refused when the queue is full, dropped once gone. The service's own work is neither. */
  caller?: Caller | undefined;
}

/**
 * @param maxWaitMs work of callers is refused when what waits already takes longer than this
 * @returns a function that starts work when everything given to it before has ended; it throws `rate_limited`
 */
export function oneAtATime(
  maxWaitMs: number,
): <Result>(turn: Turn, work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let waitingMs = 0;
  return async ({ estimateMs, caller }, work) => {
    if (caller && waitingMs + estimateMs > maxWaitMs) {
      throw new ApiError('rate_limited', 'too many keys are being made; retry in a moment', {
        headers: { 'Retry-After': String(Math.ceil(maxWaitMs / 1000)) },
      });
    }
    waitingMs += estimateMs;
    const mine = last.then(async () => {
      try {
        if (caller?.isGone()) throw callerGone();
        return await work();
      } finally {
        waitingMs -= estimateMs;
      }
    });
    last = mine.catch(() => {});
    return mine;
  };
}
