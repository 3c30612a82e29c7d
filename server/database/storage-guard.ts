// Connects users of the database with the storage watch: faults go to the watch, and the watch can stop writes.
import { type DatabaseFault, DatabaseFaultError, faultOf } from './database-fault.ts';

export interface StorageGuard {
  /** Reports a failed statement. Ignores errors that do not concern the database itself. */
  note(error: unknown): void;
  /** Reports a fault, for example from a worker thread. */
  noteFault(fault: DatabaseFault): void;
  /** @throws DatabaseFaultError with the reason while writes are stopped */
  check(): void;
  isStopped(): boolean;
}

/** Why writes are stopped, with what failed changes say in the log. */
const REASONS = {
  gone: 'the files of the database have been removed or replaced',
  moving: 'the database is being moved',
} as const;

type StopReason = keyof typeof REASONS;

export interface ControlledGuard extends StorageGuard {
  onFault(listener: (fault: DatabaseFault) => void): void;
  /** Called when writes are stopped. */
  onStop(listener: () => void): void;
  stopWrites(reason: StopReason): void;
  /** Without effect if writes are stopped for another reason. */
  resumeWrites(reason: StopReason): void;
  /** Whether the data directory may belong to another server by now. */
  isGone(): boolean;
}

export function createStorageGuard(): ControlledGuard {
  let stopped: StopReason | null = null;
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
      if (stopped !== null) throw new DatabaseFaultError(stopped, REASONS[stopped]);
    },
    isStopped: () => stopped !== null,
    isGone: () => stopped === 'gone',
    onFault(listener) {
      tellFault = listener;
    },
    onStop(listener) {
      tellStop = listener;
    },
    stopWrites(reason) {
      stopped = reason;
      tellStop();
    },
    resumeWrites(reason) {
      if (stopped === reason) stopped = null;
    },
  };
}
