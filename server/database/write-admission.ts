// Bounds how many changes wait for the database: SQLite has one writer, PostgreSQL a few connections.
import { callerGone, type Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';

/** Changes of public callers, who may be many: about three seconds of activations. */
const MAX_WAITING_CALLERS = 1000;
/** All others, such as those of administrators, still get in when public callers have filled the queue. */
const MAX_WAITING = 2000;
const RETRY_AFTER_SECONDS = 2;

export interface WriteAdmission {
  /**
   * Counts the change until `work` has ended.
   * @param caller a client of the API who waits for it
   * @throws ApiError `overloaded`
   */
  add<Result>(caller: Caller | undefined, work: () => Promise<Result>): Promise<Result>;
}

/** Called when the change's turn has come. @throws ApiError if nobody waits for it any more */
export function refuseGone(caller: Caller | undefined): void {
  if (caller?.isGone()) throw callerGone();
}

export function createWriteAdmission(): WriteAdmission {
  let waiting = 0;
  return {
    async add(caller, work) {
      if (waiting >= (caller ? MAX_WAITING_CALLERS : MAX_WAITING)) {
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
