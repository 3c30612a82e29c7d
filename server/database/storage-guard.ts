// Connects users of the database with the storage watch: faults go to the watch, and the watch can stop writes.
import { type DatabaseFault, DatabaseFaultError, faultOf } from './database-fault.ts';

export interface StorageGuard {
  /** Reports a failed statement. Ignores errors that do not concern the database itself. */
  note(error: unknown): void;
  /** Reports a fault, for example from a worker thread. */
  noteFault(fault: DatabaseFault): void;
  /** @throws DatabaseFaultError `gone` while writes are stopped */
  check(): void;
  isStopped(): boolean;
}

export interface ControlledGuard extends StorageGuard {
  onFault(listener: (fault: DatabaseFault) => void): void;
  /** Called when writes are stopped. */
  onStop(listener: () => void): void;
  stopWrites(): void;
  resumeWrites(): void;
}

export function createStorageGuard(): ControlledGuard {
  let stopped = false;
  let tellFault = (_fault: DatabaseFault): void => {};
  let tellStop = (): void => {};
  const noteFault = (fault: DatabaseFault): void => tellFault(fault);
  return {
    noteFault,
    note(error) {
      const fault = faultOf(error);
      if (fault) noteFault(fault);
    },
    check() {
      if (stopped)
        throw new DatabaseFaultError('gone', 'the files of the database have been removed or replaced');
    },
    isStopped: () => stopped,
    onFault(listener) {
      tellFault = listener;
    },
    onStop(listener) {
      tellStop = listener;
    },
    stopWrites() {
      stopped = true;
      tellStop();
    },
    resumeWrites() {
      stopped = false;
    },
  };
}
