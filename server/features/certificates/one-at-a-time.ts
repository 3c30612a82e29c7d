// Runs long work in the thread pool one piece at a time, because the database needs a free thread in the same pool.
import { callerGone, type Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';

export interface Turn {
  /** Estimated duration in milliseconds. */
  estimateMs: number;
  /**
   * The waiting client: rejected if the queue is full, dropped after a disconnect. The service's own work has no caller
   * and neither happens.
   */
  caller?: Caller | undefined;
}

/**
 * @param maxWaitMs a caller's work is rejected if the queue already takes longer than this
 * @returns a function that starts work after everything queued before; throws `overloaded`
 */
export function oneAtATime(
  maxWaitMs: number,
): <Result>(turn: Turn, work: () => Promise<Result>) => Promise<Result> {
  let last: Promise<unknown> = Promise.resolve();
  let waitingMs = 0;
  return async ({ estimateMs, caller }, work) => {
    if (caller && waitingMs + estimateMs > maxWaitMs) {
      throw new ApiError('overloaded', 'too many keys are being generated; retry in a moment', {
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
