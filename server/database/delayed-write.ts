// Writes together, a moment later, what calls have left in memory: no call waits for the disk, and a crash loses what is
// waiting.

interface Needs<Batch> {
  delayMs: number;
  /** Takes out of memory what is to be written. @returns null if nothing is waiting */
  take(): Batch | null;
  write(batch: Batch): Promise<void>;
  /** Puts what could not be written beside what has come since. It is tried again. */
  putBack(batch: Batch): void;
  /** Called when a write fails. */
  onError(error: unknown): void;
}

export interface DelayedWrite {
  /** Something is waiting. */
  schedule(): void;
  /** Writes now, after the write that is under way. */
  flush(): Promise<void>;
  /** Writes for the last time. */
  close(): Promise<void>;
}

export function createDelayedWrite<Batch>(needs: Needs<Batch>): DelayedWrite {
  /** Undefined while nothing waits, so that an idle server does not wake up. */
  let timer: NodeJS.Timeout | undefined;
  let writing: Promise<void> = Promise.resolve();

  function cancel(): void {
    clearTimeout(timer);
    timer = undefined;
  }

  function schedule(): void {
    timer ??= setTimeout(() => void flush(), needs.delayMs).unref();
  }

  async function write(): Promise<void> {
    const batch = needs.take();
    if (batch === null) return;
    try {
      await needs.write(batch);
    } catch (error) {
      needs.putBack(batch);
      schedule();
      needs.onError(error);
    }
  }

  function flush(): Promise<void> {
    cancel();
    writing = writing.then(write);
    return writing;
  }

  return {
    schedule,
    flush,
    async close() {
      await flush();
      cancel();
    },
  };
}
