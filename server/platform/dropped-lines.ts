// Counts log lines that were dropped because they could not be written, and tells those who want to know.

/** @param destination `license-desk.log`, `security.log` or `stderr` @param count lines dropped just now */
export type OnDropped = (destination: string, count: number) => void;

export interface DroppedLines {
  add: OnDropped;
  /** Calls `listener` for all drops from now on. */
  listen(listener: OnDropped): void;
}

export function createDroppedLines(): DroppedLines {
  const listeners: OnDropped[] = [];
  return {
    add(destination, count) {
      for (const listener of listeners) listener(destination, count);
    },
    listen: (listener) => void listeners.push(listener),
  };
}
