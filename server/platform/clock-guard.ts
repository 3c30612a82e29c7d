// Decides whether the wall clock can be trusted: a large jump forward must persist before anything irreversible follows
// from it.
import type { Clock } from './clock.ts';

/** Larger than NTP corrections and time zone mistakes, smaller than what would wrongly expire a license. */
const LARGE_JUMP_MS = 24 * 3_600_000;
/** A jump is accepted after this many scan intervals, within these bounds. */
const CONFIRM_INTERVALS = 10;
const MIN_CONFIRM_MS = 15_000;
const MAX_CONFIRM_MS = 600_000;

/** Milliseconds that are unaffected by clock changes; the same in all threads of this process. */
export function monotonicMs(): number {
  return Number(process.hrtime.bigint() / 1_000_000n);
}

/**
 * Whether a wall clock reading is implausibly far ahead. @param trustedOffset wall clock minus monotonic clock when
 * last trusted
 */
export function isAhead(wall: number, trustedOffset: number): boolean {
  return wall - monotonicMs() - trustedOffset > LARGE_JUMP_MS;
}

export interface ClockGuard {
  /** Reads the clock and updates the verdict. */
  isTrusted(): boolean;
  /** While the clock is not trusted, it goes on as if there had been no jump. */
  steady(clock: Clock): Clock;
  /** For worker threads: a Float64 with the trusted offset, for `isAhead`. */
  readonly shared: SharedArrayBuffer;
}

interface Needs {
  scanSeconds: number;
  wallMs?: () => number;
  monotonic?: () => number;
  /** The clock jumped ahead by this many milliseconds and is not trusted yet. */
  onHeld(aheadMs: number): void;
  /** An untrusted clock went back, or stayed ahead long enough to be accepted. */
  onTrusted(): void;
}

/** Trusts the clock at the start: after downtime, a correct clock cannot be told from a wrong one. */
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

  function isTrusted(): boolean {
    const now = monotonic();
    const offset = wallMs() - now;
    const ahead = offset - (trusted[0] ?? 0);
    // A clock that goes back delays notices, but sends none too early.
    if (ahead <= LARGE_JUMP_MS) return trust(offset);
    if (held && Math.abs(offset - held.offset) <= LARGE_JUMP_MS) {
      return now - held.since >= confirmMs && trust(offset);
    }
    held = { offset, since: now };
    needs.onHeld(ahead);
    return false;
  }

  return {
    shared,
    isTrusted,
    steady: (clock) => ({ now: () => (isTrusted() ? clock.now() : monotonic() + (trusted[0] ?? 0)) }),
  };
}
