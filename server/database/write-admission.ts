// Limits how many changes wait for the database: SQLite has one writer, PostgreSQL a few connections.
import { callerGone, type Caller } from '#server/platform/call.ts';
import { ApiError } from '#server/wire/errors.ts';

/** Limit for changes from API clients, who can be many: about three seconds of activations. */
const MAX_WAITING_CALLERS = 1000;
/** Limit for all changes. Administrators' changes still get in when API clients have filled their share. */
const MAX_WAITING = 2000;
const RETRY_AFTER_SECONDS = 2;

export interface WriteAdmission {
  /**
   * Counts the change until `work` has ended.
   * @param caller the API client that waits for it
   * @throws ApiError `overloaded`
   */
  add<Result>(caller: Caller | undefined, work: () => Promise<Result>): Promise<Result>;
}

export const overloaded = () =>
  new ApiError('overloaded', 'too many changes are waiting for the database; retry in a moment', {
    headers: { 'Retry-After': String(RETRY_AFTER_SECONDS) },
  });

/** Called when the change's turn has come. @throws ApiError if the caller has disconnected */
export function refuseGone(caller: Caller | undefined): void {
  if (caller?.isGone()) throw callerGone();
}

export function createWriteAdmission(): WriteAdmission {
  let waiting = 0;
  return {
    async add(caller, work) {
      if (waiting >= (caller ? MAX_WAITING_CALLERS : MAX_WAITING)) throw overloaded();
      waiting += 1;
      try {
        return await work();
      } finally {
        waiting -= 1;
      }
    },
  };
}
