// Connects those who use the database with the one who watches its storage: faults go one way, a stop of writes the other.
import { type DatabaseFault, DatabaseFaultError, faultOf } from './database-fault.ts';

export interface StorageGuard {
  /** Reports a failed statement; errors that are not about the database are ignored. */
  note(error: unknown): void;
  /** Reports a fault, such as one that a worker thread ran into. */
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
