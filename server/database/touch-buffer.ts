// Notes in memory that rows were used, for a later write: bounded, and at most once per interval for each row. What is
// noted here must not matter: a crash loses it.

/** Limits one write, so that it never delays others. The rest waits. */
const ROWS_PER_WRITE = 2000;
/** Above this, a use is not noted; the row's next use will be. */
const MAX_WAITING = 50_000;

export interface TouchBuffer {
  /** @param lastAt when the use was last noted @returns whether it is noted now */
  note(id: number, lastAt: number | null, now: number): boolean;
  /** The rows to write, in ascending order, so that servers lock them in the same order. */
  take(): number[];
  isWaiting(): boolean;
  /** Keeps rows that could not be written. */
  putBack(ids: readonly number[]): void;
}

export function createTouchBuffer(everyMs: number): TouchBuffer {
  const waiting = new Set<number>();
  return {
    note(id, lastAt, now) {
      if (lastAt !== null && now - lastAt < everyMs) return false;
      if (waiting.size >= MAX_WAITING) return false;
      waiting.add(id);
      return true;
    },
    take() {
      const ids = [...waiting].slice(0, ROWS_PER_WRITE);
      for (const id of ids) waiting.delete(id);
      return ids.toSorted((a, b) => a - b);
    },
    isWaiting: () => waiting.size > 0,
    putBack(ids) {
      for (const id of ids) waiting.add(id);
    },
  };
}
