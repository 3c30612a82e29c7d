// Limits the time that each change waits for a lock on SQLite that is held elsewhere.
import { LOCK_WAIT_MS } from './lock-wait.ts';

/** A free lock is acquired sooner than this, even on a loaded machine. */
const LOCKED_AFTER_MS = 250;

/** What the writer is doing; shown when a change is delayed. */
export type WriterState = 'idle' | 'waiting_for_lock' | 'writing';

export interface LockWait {
  /**
   * Called at a change's arrival. @returns what is left of its wait in milliseconds: the time that the writer has spent
   * waiting for locks since then counts; time spent on other changes does not
   */
  budget(): () => number;
  /** Takes the lock. */
  during<Handle>(leftMs: number, takeLock: (waitMs: number) => Promise<Handle>): Promise<Handle>;
  state(isWriting: boolean): WriterState;
}

export function createLockWait(): LockWait {
  /** Total time that the writer has waited for locks, in milliseconds. */
  let waitedMs = 0;
  let takingSince: number | null = null;

  const totalWaitMs = () => waitedMs + (takingSince === null ? 0 : performance.now() - takingSince);

  return {
    budget() {
      const atArrival = totalWaitMs();
      return () => Math.max(0, LOCK_WAIT_MS - (waitedMs - atArrival));
    },
    async during(leftMs, takeLock) {
      takingSince = performance.now();
      try {
        return await takeLock(Math.ceil(leftMs));
      } finally {
        waitedMs += performance.now() - takingSince;
        takingSince = null;
      }
    },
    state(isWriting) {
      if (takingSince === null) return isWriting ? 'writing' : 'idle';
      return performance.now() - takingSince > LOCKED_AFTER_MS ? 'waiting_for_lock' : 'writing';
    },
  };
}
