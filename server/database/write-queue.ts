// Queues writes to SQLite in order of arrival, with a limit on the time each waits for a lock held elsewhere.
import { LOCK_WAIT_MS } from './lock-wait.ts';

/** A free lock is acquired sooner than this, even on a loaded machine. */
const LOCKED_AFTER_MS = 250;

/** What the writer is doing; shown when a change is delayed. */
export type WriterState = 'idle' | 'waiting_for_lock' | 'writing';

export interface WriteQueue {
  /**
   * Runs `write` in its turn. Its `begin` takes the lock and receives the remaining wait in milliseconds.
   * Time the queue has spent waiting for locks since this write arrived counts; time spent on other writes does not.
   */
  run<Result>(write: (begin: Begin) => Promise<Result>): Promise<Result>;
  state(): WriterState;
}

export type Begin = <Handle>(takeLock: (waitMs: number) => Promise<Handle>) => Promise<Handle>;

export function createWriteQueue(): WriteQueue {
  let last: Promise<unknown> = Promise.resolve();
  let running = 0;
  /** Total time the queue has waited for locks, in milliseconds. */
  let waitedMs = 0;
  let takingSince: number | null = null;

  const totalWaitMs = () => waitedMs + (takingSince === null ? 0 : performance.now() - takingSince);

  function beginAfter(waitMsAtArrival: number): Begin {
    return async (takeLock) => {
      const leftMs = Math.max(0, LOCK_WAIT_MS - (waitedMs - waitMsAtArrival));
      takingSince = performance.now();
      try {
        return await takeLock(Math.ceil(leftMs));
      } finally {
        waitedMs += performance.now() - takingSince;
        takingSince = null;
      }
    };
  }

  return {
    run(write) {
      const begin = beginAfter(totalWaitMs());
      const mine = last.then(async () => {
        running += 1;
        try {
          return await write(begin);
        } finally {
          running -= 1;
        }
      });
      last = mine.catch(() => {});
      return mine;
    },
    state() {
      if (takingSince === null) return running === 0 ? 'idle' : 'writing';
      return performance.now() - takingSince > LOCKED_AFTER_MS ? 'waiting_for_lock' : 'writing';
    },
  };
}
