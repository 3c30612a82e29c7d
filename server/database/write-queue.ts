// Bounds how many changes wait for the database: SQLite has one writer, PostgreSQL a few connections.
import { callerGone, type Caller } from '../platform/call.ts';
import { ApiError } from '../platform/errors.ts';

/** About three seconds of activations. */
const MAX_WAITING = 1000;
/** Administrators still get in when public callers have filled the queue. */
const MAX_WAITING_PRIVILEGED = 2000;
const RETRY_AFTER_SECONDS = 2;

export interface WriteQueue {
  /**
   * Counts the change until `work` has ended.
   * @param caller who waits for it; the service's own changes have none and are never refused
   * @throws ApiError `overloaded`
   */
  add<Result>(caller: Caller | undefined, work: () => Promise<Result>): Promise<Result>;
}

function maxWaiting({ actor }: Caller): number {
  return actor.kind === 'public' || actor.kind === 'api_token' ? MAX_WAITING : MAX_WAITING_PRIVILEGED;
}

/** Called when the change's turn has come. @throws ApiError if nobody waits for it any more */
export function refuseGone(caller: Caller | undefined): void {
  if (caller?.isGone()) throw callerGone();
}

export function createWriteQueue(): WriteQueue {
  let waiting = 0;
  return {
    async add(caller, work) {
      if (caller && waiting >= maxWaiting(caller)) {
        throw new ApiError('overloaded', 'too many changes are waiting for the database; retry in a moment', {
          headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
        });
      }
      waiting += 1;
      try {
        return await work();
      } finally {
        waiting -= 1;
      }
    },
  };
}
