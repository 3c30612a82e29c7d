// Notes in memory that rows were used, for a later write: bounded, and at most once per interval for each row. What is
// noted here must not matter: a crash loses it.
import type { Sql } from './sql.ts';

/** Limits one write, so that it never delays others. The rest waits. */
const ROWS_PER_WRITE = 2000;
/** Above this, a use is not noted; the row's next use will be. */
const MAX_WAITING = 50_000;

export interface Touch {
  id: number;
  /** Epoch milliseconds. */
  at: number;
}

/** The clocks of two servers differ by less: from 30 s on, a server is not ready. */
const CLOCK_DIFFERENCE_MS = 60_000;
const ROWS_PER_STATEMENT = 500;

/**
 * @param column of the table, with the time of the last use
 * @returns writes touches, in ascending order, at `now` in epoch milliseconds, which may be long after the uses. Another
 *   server may have recorded a later use, but one that is ahead of `now` comes from a wrong clock
 */
export function touchRecorder(sql: Sql, table: string, column: string) {
  const { jsonRows, readById } = sql.dialect;
  const record = sql.statement(`
    UPDATE ${table} ${readById} SET ${column} = t.at FROM ${jsonRows('touches', 't', { id: 'BIGINT', at: 'BIGINT' })}
    WHERE ${table}.id = t.id AND (${column} IS NULL OR ${column} < t.at OR ${column} > $latest)`);
  return async (touches: readonly Touch[], now: number): Promise<void> => {
    const latest = now + CLOCK_DIFFERENCE_MS;
    for (let start = 0; start < touches.length; start += ROWS_PER_STATEMENT)
      await record.run({ touches: JSON.stringify(touches.slice(start, start + ROWS_PER_STATEMENT)), latest });
  };
}

export interface TouchBuffer {
  /** @param lastAt when the use was last noted @returns whether it is noted now */
  note(id: number, lastAt: number | null, now: number): boolean;
  /** The rows to write, in ascending order, so that servers lock them in the same order. */
  take(): Touch[];
  isWaiting(): boolean;
  /** Keeps rows that could not be written. */
  putBack(touches: readonly Touch[]): void;
}

export function createTouchBuffer(everyMs: number): TouchBuffer {
  const waiting = new Map<number, number>();
  return {
    note(id, lastAt, now) {
      // A time that is far ahead comes from a wrong clock.
      if (lastAt !== null && Math.abs(now - lastAt) < everyMs) return false;
      if (waiting.size >= MAX_WAITING) return false;
      waiting.set(id, now);
      return true;
    },
    take() {
      const touches: Touch[] = [];
      for (const [id, at] of waiting) {
        if (touches.length >= ROWS_PER_WRITE) break;
        touches.push({ id, at });
        waiting.delete(id);
      }
      return touches.toSorted((a, b) => a.id - b.id);
    },
    isWaiting: () => waiting.size > 0,
    putBack(touches) {
      for (const { id, at } of touches) if (!waiting.has(id)) waiting.set(id, at);
    },
  };
}
