// Why a group of changes that share a commit ends without one.
import { faultOf } from '#server/platform/database-fault.ts';

/** A change of the group has failed, possibly after it had written. */
export class FailedChangeError extends Error {
  override readonly name = 'FailedChangeError';
}

/** No change of the group stands: SQLite has rolled the transaction back, as it does when the disk is full. */
export class LostTransactionError extends Error {
  override readonly name = 'LostTransactionError';

  constructor(cause: unknown) {
    super('the transaction was rolled back because another change failed', { cause });
  }

  /** What the callers of the other changes get. */
  get reason(): unknown {
    return faultOf(this.cause) ? this.cause : this;
  }
}
