// The time of the database server, for servers that share one: they compare times with each other, so all must mean the
// same by "now".
import { type Clock, systemClock } from './clock.ts';

/** The rate at which the clocks of two machines may drift apart; a generous bound for quartz. */
const DRIFT = 0.0002;

/** Milliseconds that are unaffected by clock changes; the same in all threads of this process. */
export const preciseMonotonicMs = (): number => Number(process.hrtime.bigint()) / 1e6;

/** The slots of the buffer: shared time minus monotonic time, its possible error, and when it was measured. */
const OFFSET = 0;
const ERROR = 1;
const MEASURED = 2;
const SLOTS = 3;

export interface SharedTime extends Clock {
  /** For worker threads, see `sharedClock`. */
  readonly buffer: SharedArrayBuffer;
  /**
   * Takes over a reading of the shared clock. A reading that took longer than an earlier one, and does not contradict it,
   * changes nothing.
   * @param ms the reading, in epoch milliseconds
   * @param tookMs from the question to the answer
   */
  set(ms: number, tookMs: number): void;
  /** How far the clock of this machine is ahead, in milliseconds. */
  skewMs(): number;
}

function nowOf(slots: Float64Array): number {
  const offset = slots[OFFSET] ?? Number.NaN;
  return Number.isNaN(offset) ? Date.now() : Math.floor(offset + preciseMonotonicMs());
}

/** The clock in a worker thread. @param buffer of the main thread's shared time; null for the clock of this machine */
export function sharedClock(buffer: SharedArrayBuffer | null): Clock {
  if (!buffer) return systemClock;
  const slots = new Float64Array(buffer);
  return { now: () => nowOf(slots) };
}

/** Until the first reading, it is the clock of this machine. */
export function createSharedTime(): SharedTime {
  const buffer = new SharedArrayBuffer(SLOTS * Float64Array.BYTES_PER_ELEMENT);
  const slots = new Float64Array(buffer);
  slots[OFFSET] = Number.NaN;
  return {
    buffer,
    now: () => nowOf(slots),
    set(ms, tookMs) {
      const at = preciseMonotonicMs();
      const error = tookMs / 2;
      const offset = ms + error - at;
      const known = slots[OFFSET] ?? Number.NaN;
      const knownError = (slots[ERROR] ?? 0) + (at - (slots[MEASURED] ?? 0)) * DRIFT;
      // A shared clock that was set, or a machine that slept, is outside what both readings allow.
      const isContradicted = Math.abs(offset - known) > error + knownError;
      if (error > knownError && !isContradicted && !Number.isNaN(known)) return;
      slots[OFFSET] = offset;
      slots[ERROR] = error;
      slots[MEASURED] = at;
    },
    skewMs: () => Date.now() - nowOf(slots),
  };
}
