// Waits until all servers on the database serve a new CRL.
import type { ServerRegistry } from './server-registry.ts';

/** A server that is frozen or cut off must not delay a revocation for longer. */
const WAIT_MS = 2000;
/** A server whose message was lost shows in its next report. */
const LOOK_EVERY_MS = 250;

interface Needs {
  behind: ServerRegistry['behind'];
  /** Tells the other servers that there is a CRL with this number. */
  announce(crlNumber: number): void;
}

export interface CrlSpread {
  /** @returns the ready servers that do not serve the CRL in time */
  wait(crlNumber: number): Promise<string[]>;
  /** Call it when another server has confirmed that it serves a new CRL. */
  noteConfirmed(): void;
}

export function createCrlSpread({ behind, announce }: Needs): CrlSpread {
  const waiting = new Set<() => void>();

  /** Until the next confirmation. */
  function pause(): Promise<void> {
    return new Promise((resolve) => {
      const end = () => {
        clearTimeout(timer);
        waiting.delete(end);
        resolve();
      };
      const timer = setTimeout(end, LOOK_EVERY_MS);
      waiting.add(end);
    });
  }

  return {
    async wait(crlNumber) {
      const until = performance.now() + WAIT_MS;
      announce(crlNumber);
      for (;;) {
        const late = await behind(crlNumber);
        if (late.length === 0 || performance.now() >= until) return late;
        await pause();
      }
    },
    noteConfirmed() {
      for (const end of waiting) end();
    },
  };
}
