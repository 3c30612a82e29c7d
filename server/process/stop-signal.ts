// How a server process is told to stop, from its first moment on: by a signal, or by the desktop app around it.
import { setTimeout as delay } from 'node:timers/promises';
import { onParentMessage } from './parent-port.ts';

/** The contract promises an exit within 5 seconds of a signal; writing the log takes part of that. */
const EXIT_WITHIN_MS = 4200;
const REPORT_WITHIN_MS = 400;

export interface Stop {
  /** Aborts once the process is told to; it then has to end by itself, and is ended with exit code 1 if that takes too long. */
  signal: AbortSignal;
  /** Tells it from within. */
  ask(): void;
  /** @param report logs what an exit would cut off */
  onForcedExit(report: () => Promise<void>): void;
}

export function stopSignal(): Stop {
  const controller = new AbortController();
  let report = async (): Promise<void> => {
    process.stderr.write('error: forced exit: the server did not stop in time while it was starting\n');
  };

  /** Nothing half-written can be left by this: what has not committed by then is rolled back. */
  async function forceExit(): Promise<void> {
    await Promise.race([report().catch(() => {}), delay(REPORT_WITHIN_MS)]);
    process.exit(1);
  }

  const stop = () => {
    if (controller.signal.aborted) return;
    setTimeout(() => void forceExit(), EXIT_WITHIN_MS).unref();
    controller.abort();
  };
  process.on('SIGTERM', stop);
  process.on('SIGINT', stop);
  onParentMessage('stop', stop);
  return {
    signal: controller.signal,
    ask: stop,
    onForcedExit(reporting) {
      report = reporting;
    },
  };
}
