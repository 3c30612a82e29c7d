// Connects users of the database with the storage watch: faults go to the watch, and the watch can stop writes.
import { type DatabaseFault, DatabaseFaultError, faultOf } from '#server/platform/database-fault.ts';

export interface StorageGuard {
  /** Reports a failed statement. Ignores errors that do not concern the database itself. */
  note(error: unknown): void;
  /** Reports a fault, for example from a worker thread. */
  noteFault(fault: DatabaseFault): void;
  /** @throws DatabaseFaultError with the reason while writes are stopped */
  check(): void;
  /**
   * The same as `check`. On PostgreSQL, a server that was frozen first learns whether changes are still allowed.
   * @throws DatabaseFaultError
   */
  checkFresh(): Promise<void>;
  isStopped(): boolean;
}

/** Why writes are stopped, with what failed changes say in the log. */
const REASONS = {
  gone: 'the files of the database have been removed or replaced',
  moved: 'the database has been moved, and this server has not been restarted since',
  moving: 'the database is being moved',
  outdated: 'a newer version has migrated the database, and this version does not work with it',
} as const;

type StopReason = keyof typeof REASONS;

export interface ControlledGuard extends StorageGuard {
  onFault(listener: (fault: DatabaseFault) => void): void;
  /** Called when writes are stopped. */
  onStop(listener: () => void): void;
  /** Called when writes are allowed again. */
  onResume(listener: () => void): void;
  stopWrites(reason: StopReason): void;
  /** Writes stay stopped while there is another reason. */
  resumeWrites(reason: StopReason): void;
  /** Whether the data directory may belong to another server by now. */
  isGone(): boolean;
  /** Whether the database belongs to a newer version by now. */
  isOutdated(): boolean;
  /** Sets what `checkFresh` waits for. */
  beforeFreshCheck(refresh: () => Promise<void>): void;
  /** Whether a change has been attempted since the last call. */
  takeUse(): boolean;
}

export function createStorageGuard(): ControlledGuard {
  /** One reason may end while another one lasts. */
  const stopped = new Set<StopReason>();
  let notifyFault = (_fault: DatabaseFault): void => {};
  let notifyStop = (): void => {};
  let notifyResume = (): void => {};
  let refresh = async (): Promise<void> => {};
  let isUsed = true;
  const noteFault = (fault: DatabaseFault): void => notifyFault(fault);
  function check(): void {
    isUsed = true;
    const [reason] = stopped;
    if (reason) throw new DatabaseFaultError(reason, REASONS[reason]);
  }

  return {
    noteFault,
    check,
    async checkFresh() {
      await refresh();
      check();
    },
    note(error) {
      const fault = faultOf(error);
      if (fault) noteFault(fault);
    },
    isStopped: () => stopped.size > 0,
    isGone: () => stopped.has('gone'),
    isOutdated: () => stopped.has('outdated'),
    beforeFreshCheck(wait) {
      refresh = wait;
    },
    takeUse() {
      const wasUsed = isUsed;
      isUsed = false;
      return wasUsed;
    },
    onFault(listener) {
      notifyFault = listener;
    },
    onStop(listener) {
      notifyStop = listener;
    },
    onResume(listener) {
      notifyResume = listener;
    },
    stopWrites(reason) {
      stopped.add(reason);
      notifyStop();
    },
    resumeWrites(reason) {
      if (stopped.delete(reason) && stopped.size === 0) notifyResume();
    },
  };
}
