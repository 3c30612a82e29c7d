// Counts log lines that could not be written, and notifies listeners.

/** @param destination `license-desk.log`, `security.log` or `stderr` @param count lines dropped since the last call */
export type OnDropped = (destination: string, count: number) => void;

export interface DroppedLines {
  add: OnDropped;
  /** Calls `listener` for all later drops. */
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
