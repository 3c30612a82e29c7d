// Reports the service's status to the desktop app whenever it changes.
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import type { Clock } from '#server/platform/clock.ts';
import { DAY_MS } from '#server/wire/instants.ts';
import type { OverviewStore } from './overview-store.ts';

/** Shown in the app's tray. The app notifies the administrator when it gets worse. */
export interface ServerStatus {
  health: 'ok' | 'failing';
  /** Deliveries whose retries are used up. They can be retried. */
  failed_deliveries: number;
  /** Licenses that expire within a week, up to a limit. */
  ending_soon: number;
}

const SOON_MS = 7 * DAY_MS;
/** Above this, exact numbers are not useful. */
const MOST_ENDING = 1000;
/** Health and expiring licenses change without an event, so they are polled. */
const LOOK_EVERY_MS = 15_000;
/** Changes within this time are reported together. */
const SETTLE_MS = 1000;

interface Needs {
  figures: Pick<OverviewStore, 'countEndingBy'>;
  countFailedDeliveries(): Promise<number>;
  /** Rejects if something fails. */
  checkHealth(): Promise<unknown>;
  onChange: LiveStreams['listen'];
  clock: Clock;
}

export function createServerStatus(needs: Needs) {
  const { figures, countFailedDeliveries, checkHealth, onChange, clock } = needs;
  let end = () => {};
  let before = '';
  let counts: Omit<ServerStatus, 'health'> = { failed_deliveries: 0, ending_soon: 0 };

  async function count(): Promise<void> {
    const now = clock.now();
    counts = {
      failed_deliveries: await countFailedDeliveries(),
      ending_soon: await figures.countEndingBy(now, now + SOON_MS, MOST_ENDING),
    };
  }

  async function read(): Promise<ServerStatus> {
    try {
      await checkHealth();
      await count();
      return { health: 'ok', ...counts };
    } catch {
      // The last counts are the best available.
      return { health: 'failing', ...counts };
    }
  }

  return {
    watch(report: (status: ServerStatus) => void): void {
      let settling: NodeJS.Timeout | undefined;
      async function look(): Promise<void> {
        settling = undefined;
        const status = await read();
        const text = JSON.stringify(status);
        if (text === before) return;
        before = text;
        report(status);
      }
      const lookSoon = () => {
        settling ??= setTimeout(() => void look(), SETTLE_MS);
      };
      const stopListening = onChange(lookSoon);
      const timer = setInterval(() => void look(), LOOK_EVERY_MS);
      void look();
      end = () => {
        stopListening();
        clearInterval(timer);
        clearTimeout(settling);
      };
    },
    close: () => end(),
  };
}
