// Stop requests to a server process, from its first moment on: by a signal, or from the desktop app.
import { setTimeout as delay } from 'node:timers/promises';
import { onParentMessage } from './parent-port.ts';

/** The contract promises an exit within 5 seconds of a signal, including the time for writing the log. */
const EXIT_WITHIN_MS = 4200;
const REPORT_WITHIN_MS = 400;

export interface Stop {
  /** Aborts when a stop is requested. The process then has to end; if that takes too long, it exits with code 1. */
  signal: AbortSignal;
  /** Requests a stop from within the process. */
  ask(): void;
  /** @param report logs what an exit would interrupt */
  onForcedExit(report: () => Promise<void>): void;
}

export function stopSignal(): Stop {
  const controller = new AbortController();
  let report = async (): Promise<void> => {
    process.stderr.write('error: forced exit: the server did not stop in time while it was starting\n');
  };

  /** Leaves nothing half-written: uncommitted changes are rolled back. */
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
  // Ctrl+Break on Windows. By default, it ends the process at once.
  process.on('SIGBREAK', stop);
  onParentMessage('stop', stop);
  return {
    signal: controller.signal,
    ask: stop,
    onForcedExit(reporting) {
      report = reporting;
    },
  };
}
