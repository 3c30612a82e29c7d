// Decides whether the wall clock can be trusted: a large jump forward has to last before anything irreversible follows it.

/** Larger than any correction by NTP or time zone mistake, smaller than what would expire a license early for good. */
const LARGE_JUMP_MS = 24 * 3_600_000;
/** A jump is confirmed after this many scan intervals, within these bounds. */
const CONFIRM_INTERVALS = 10;
const MIN_CONFIRM_MS = 15_000;
const MAX_CONFIRM_MS = 600_000;

/** Milliseconds that no administrator can set; the same in every thread of this process. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/** Whether a wall clock reading lies implausibly far ahead. @param trustedOffset wall clock less monotonic clock, when last trusted */
export function isAhead(wall: number, trustedOffset: number): boolean {
  return wall - monotonicMs() - trustedOffset > LARGE_JUMP_MS;
}

export interface ClockGuard {
  /** Reads the clock and updates the verdict. */
  isTrusted(): boolean;
  /** For worker threads: a Float64 with the trusted offset, for `isAhead`. */
  readonly shared: SharedArrayBuffer;
}

interface Needs {
  scanSeconds: number;
  wallMs?: () => number;
  monotonic?: () => number;
  /** The clock jumped ahead by so many milliseconds and is on hold. */
  onHeld(aheadMs: number): void;
  /** A held clock went back, or stayed ahead long enough to be believed. */
  onTrusted(): void;
}

/** The reading at the start is believed: after downtime of any length nothing tells it from a wrong one. */
export function createClockGuard(needs: Needs): ClockGuard {
  const { wallMs = Date.now, monotonic = monotonicMs } = needs;
  const confirmMs = Math.min(
    MAX_CONFIRM_MS,
    Math.max(MIN_CONFIRM_MS, needs.scanSeconds * 1000 * CONFIRM_INTERVALS),
  );
  const shared = new SharedArrayBuffer(Float64Array.BYTES_PER_ELEMENT);
  const trusted = new Float64Array(shared);
  trusted[0] = wallMs() - monotonic();
  let held: { offset: number; since: number } | null = null;

  function trust(offset: number): true {
    trusted[0] = offset;
    if (held) {
      held = null;
      needs.onTrusted();
    }
    return true;
  }

  return {
    shared,
    isTrusted() {
      const now = monotonic();
      const offset = wallMs() - now;
      const ahead = offset - (trusted[0] ?? 0);
      // A clock that goes back delays notices, and sends none too early.
      if (ahead <= LARGE_JUMP_MS) return trust(offset);
      if (held && Math.abs(offset - held.offset) <= LARGE_JUMP_MS) {
        return now - held.since >= confirmMs && trust(offset);
      }
      held = { offset, since: now };
      needs.onHeld(ahead);
      return false;
    },
  };
}
