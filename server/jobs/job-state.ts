// What is known of a job: whether it is on time, what is wrong with it, and when it may run again.
import type { Logger } from '#server/platform/logger.ts';
import type { Job } from './job-list.ts';

/** A job is late if it takes longer than this many intervals, but not before two minutes. */
const LATE_AFTER_INTERVALS = 3;
const LEAST_LATE_MS = 120_000;
/** A failed run is retried after this time, which doubles with each further failure. */
const RETRY_MS = 5000;
const MAX_RETRY_MS = 60_000;
/** A briefly locked database fails one run; a broken job fails again. */
const FAILURES_UNTIL_FAILING = 2;

export interface JobState {
  readonly job: Job;
  /** Not started yet: neither due nor requested. */
  isSettling: boolean;
  /** Whether the current run has failed. */
  hasFailed: boolean;
  /** Whether to run once more after the current run. */
  runAgain: boolean;
  /** Set while `hasWork` is being asked. */
  asking: Promise<void> | undefined;
  /** Set while a failed run is to be waited for. */
  retry: NodeJS.Timeout | undefined;
  clearRetry(): void;
  /** Whether the failed run was a question to the database. */
  waitsForDatabase: boolean;
  /** Call it when nothing had to be done. */
  noteOnTime(): void;
  /** Call it when another server runs the job: what failed here says nothing about it any more. */
  forgetFailures(): void;
  /** Call it when the job is known to work. */
  noteAlive(): void;
  /** Logs each problem once, and again only after the job has worked. */
  noteFailure(error: Error): void;
  /** Counts a run that has failed. @returns how long to wait before the next one */
  countFailure(): number;
  /** Reports the job as failing from now on. */
  giveUp(): void;
  isFine(): boolean;
}

export function createJobState(job: Job, logger: Logger): JobState {
  /** When the run last sent a message, in `performance.now()` time. */
  let heardAt = -Infinity;
  /** Consecutive failures. */
  let failures = 0;
  let problem: string | null = null;
  return {
    job,
    isSettling: true,
    hasFailed: false,
    runAgain: false,
    asking: undefined,
    retry: undefined,
    clearRetry() {
      clearTimeout(this.retry);
      this.retry = undefined;
      this.waitsForDatabase = false;
    },
    waitsForDatabase: false,
    noteOnTime() {
      heardAt = performance.now();
    },
    forgetFailures() {
      failures = 0;
      problem = null;
    },
    noteAlive() {
      heardAt = performance.now();
      failures = 0;
      if (problem !== null) logger.info({ job: job.name }, 'job works again');
      problem = null;
    },
    noteFailure(error) {
      if (error.message !== problem) logger.error({ job: job.name, err: error }, 'job failed');
      problem = error.message;
    },
    countFailure() {
      failures += 1;
      return Math.min(MAX_RETRY_MS, RETRY_MS * 2 ** (failures - 1));
    },
    giveUp() {
      failures = FAILURES_UNTIL_FAILING;
    },
    isFine() {
      if (this.isSettling) return true;
      const allowed = Math.max(LEAST_LATE_MS, job.everySeconds * 1000 * LATE_AFTER_INTERVALS);
      return failures < FAILURES_UNTIL_FAILING && performance.now() - heardAt < allowed;
    },
  };
}
