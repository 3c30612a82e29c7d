// Watches how far this machine's clock is from the clock of the database, by which the servers that share it compare times.
import type { AlertBoard } from './alert-board.ts';

const WARN_MS = 2000;
/** Below this the alert ends, so that it does not come and go with each reading. */
const FINE_MS = 1500;
/** From here on, files and certificates that this machine writes by its own clock would be wrong. */
const UNREADY_MS = 30_000;

export interface ClockSkew {
  /** Raises or clears the alert. */
  check(): void;
  /** Whether the server can be ready. */
  isBearable(): boolean;
}

/** @param skewMs how far the clock of this machine is ahead, in milliseconds */
export function watchClockSkew(skewMs: () => number, alerts: Pick<AlertBoard, 'raise' | 'clear'>): ClockSkew {
  let isShown = false;
  return {
    check() {
      const skew = skewMs();
      isShown = Math.abs(skew) >= (isShown ? FINE_MS : WARN_MS);
      // In whole seconds: the alert must not change with every reading.
      if (isShown) alerts.raise('clock_skewed', { params: { seconds: Math.round(skew / 1000) } });
      else alerts.clear('clock_skewed');
    },
    isBearable: () => Math.abs(skewMs()) <= UNREADY_MS,
  };
}
