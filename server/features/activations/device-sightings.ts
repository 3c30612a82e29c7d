// Notes in memory when devices were last seen, and writes it periodically: no call waits for the disk.
import { createDelayedWrite } from '#server/database/delayed-write.ts';
import { createTouchBuffer, type Touch } from '#server/database/touch-buffer.ts';
import type { RunTransaction } from '#server/database/transaction.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { ActivationStore } from './activation-store.ts';

const FLUSH_MS = 5000;
/** A busy device causes one write in this time. */
const SEEN_EVERY_MS = 5 * 60_000;

/** A device that has called. */
interface CallingDevice {
  /** Null if it is not active. */
  activationId: number | null;
  lastSeenAt: number | null;
}

interface Needs {
  markSeen: ActivationStore['markSeen'];
  transaction: RunTransaction;
  clock: Clock;
  /** Called after each write. */
  onWritten(): void;
  /** Called when a write fails. What it would have written is kept for the next one. */
  onError(error: unknown): void;
}

export interface DeviceSightings {
  /** Notes the time in `device`, too, which may be kept for further calls. */
  note(device: CallingDevice, now: number): void;
  /** Writes what is waiting. */
  flush(): Promise<void>;
  close(): Promise<void>;
}

export function createDeviceSightings({
  markSeen,
  transaction,
  clock,
  onWritten,
  onError,
}: Needs): DeviceSightings {
  const seen = createTouchBuffer(SEEN_EVERY_MS);

  const { schedule, flush, close } = createDelayedWrite<Touch[]>({
    delayMs: FLUSH_MS,
    take: () => (seen.isWaiting() ? seen.take() : null),
    async write(touches) {
      await transaction(() => markSeen(touches, clock.now()));
      onWritten();
      if (seen.isWaiting()) schedule();
    },
    putBack: (touches) => seen.putBack(touches),
    onError,
  });

  return {
    note(device, now) {
      if (device.activationId === null) return;
      if (!seen.note(device.activationId, device.lastSeenAt, now)) return;
      device.lastSeenAt = now;
      schedule();
    },
    flush,
    close,
  };
}
