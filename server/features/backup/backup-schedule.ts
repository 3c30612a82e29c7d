// When the daily backup is due. Times are epoch milliseconds; the hour is in the time zone of this process.
import { DAY_MS, MINUTE_MS } from '#server/wire/instants.ts';

/** What decides whether a backup is due. */
export interface BackupHistory {
  /** When the last successful backup began; null if there is none. */
  succeededAt: number | null;
  /** The attempts since then; null if the last one was successful. */
  failed: { at: number; attempts: number } | null;
}

/** Delays after the first, second and later failures in a row. The last one repeats. */
const RETRY_MINUTES = [5, 10, 20, 40, 60] as const;

/**
 * The hour on the day that is so many days after the one of `now`. Each day has exactly one: where the clocks skip the
 * hour, the same instant is called an hour later, and where the hour comes twice, it is the first one
 * (ECMA-262, section 21.4.1.26).
 */
function hourOfDay(now: number, days: number, hour: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() + days, hour).getTime();
}

/** The newest scheduled time that is not in the future. */
function lastTime(now: number, hour: number): number {
  const today = hourOfDay(now, 0, hour);
  return today <= now ? today : hourOfDay(now, -1, hour);
}

function retryAt({ at, attempts }: { at: number; attempts: number }): number {
  const minutes = RETRY_MINUTES[Math.min(attempts, RETRY_MINUTES.length) - 1] ?? RETRY_MINUTES[0];
  return at + minutes * MINUTE_MS;
}

/** A time this far ahead was recorded by a clock that has been set back since. */
const isFromFuture = (at: number, now: number): boolean => at > now + DAY_MS;

/**
 * When the next backup begins; `now` or earlier if it is due. A time that passed while the server was stopped or the
 * computer slept is made up for, once.
 */
export function nextBackupAt(now: number, hour: number, { succeededAt, failed }: BackupHistory): number {
  if (failed !== null) return failed.at > now ? now : retryAt(failed);
  const due = lastTime(now, hour);
  if (succeededAt === null || succeededAt < due || isFromFuture(succeededAt, now)) return due;
  const today = hourOfDay(now, 0, hour);
  return today > now ? today : hourOfDay(now, 1, hour);
}

/** Whole days since the last backup of any kind, or since the installation. */
export function daysWithout(since: number, now: number): number {
  return Math.max(0, Math.floor((now - since) / DAY_MS));
}
