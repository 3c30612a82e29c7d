// How a server process is told to stop, from its first moment on: by a signal, or by the desktop app around it.
import { onParentMessage } from './parent-port.ts';

/** The contract promises an exit within 5 seconds of a signal. */
const EXIT_WITHIN_MS = 4500;

export interface Stop {
  /** Aborts once the process is told to; it then has to end by itself, and is ended if that takes too long. */
  signal: AbortSignal;
  /** Tells it from within. */
  ask(): void;
}

export function stopSignal(): Stop {
  const controller = new AbortController();
  const stop = () => {
    if (controller.signal.aborted) return;
    // Nothing half-written can be left by this: what has not committed by then is rolled back.
    setTimeout(() => process.exit(0), EXIT_WITHIN_MS).unref();
    controller.abort();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onParentMessage('stop', stop);
  return { signal: controller.signal, ask: stop };
}
