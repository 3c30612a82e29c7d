// Runs the jobs of a list: schedules them and handles the end of each run.
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { FolderBackupResult } from '#server/features/backup/folder-backup.ts';
import { CERTIFICATE_UPKEEP, DISPATCHER, type Job, RETENTION, SCHEDULED_BACKUP } from './job-list.ts';
import type { Tickets } from './tickets.ts';
import { topicsOf, type WorkerMessage } from './worker-message.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

interface Needs {
  logger: Logger;
  clockGuard: Pick<ClockGuard, 'isTrusted'>;
  guard: Pick<StorageGuard, 'noteFault' | 'isStopped'>;
  /** How long jobs without waiting callers are delayed after the start. */
  settleMs: number;
  /** Callers that wait for certificate maintenance. */
  upkeepTickets: Pick<Tickets, 'settle' | 'newestOpen'>;
  /** The path of a job's worker. */
  workerFile(name: string): string;
  /** Called with the topics that a job has changed. */
  onChanged(topics: LiveTopic[]): void;
  /** Called with the result of each daily backup, also if its worker has died. */
  onBackup(result: FolderBackupResult): void;
}

interface JobState {
  readonly job: Job;
  /** Not started yet: neither due nor requested. */
  isSettling: boolean;
  /** When the run last sent a message, in `performance.now()` time. */
  heardAt: number;
  /** Consecutive failures. */
  failures: number;
  hasFailed: boolean;
  /** Whether to run once more after the current run. */
  runAgain: boolean;
}

export interface JobRunner {
  /** Starts the job's schedule early. */
  begin(name: string): void;
  /** Runs each job, or once more if it is running. */
  wake(): void;
  wakeDispatcher(): void;
  /** Answers the newest ticket with the existing worker or a new one. */
  askForUpkeep(): void;
  /** Backs up now, unless a backup is in progress. `onBackup` is called in either case. */
  runBackup(): void;
  /** Asks every worker to finish its batch. */
  cancel(): void;
  areFine(): boolean;
  isRunning(name: string): boolean;
  stop(): Promise<void>;
}

/** A job is late if it takes longer than this many intervals, but not before two minutes. */
const LATE_AFTER_INTERVALS = 3;
const LEAST_LATE_MS = 120_000;
/** A failed run is retried after this time, regardless of its interval. */
const RETRY_MS = 5000;
/** A briefly locked database fails one run; a broken job fails again. */
const FAILURES_UNTIL_FAILING = 2;

function isFine({ job, isSettling, heardAt, failures }: JobState): boolean {
  if (isSettling) return true;
  const allowed = Math.max(LEAST_LATE_MS, job.everySeconds * 1000 * LATE_AFTER_INTERVALS);
  return failures < FAILURES_UNTIL_FAILING && performance.now() - heardAt < allowed;
}

function failed(message: string): FolderBackupResult {
  return { outcome: 'failed', problem: 'other', message };
}

export function startJobRunner(jobs: readonly Job[], needs: Needs): JobRunner {
  const { logger, clockGuard, guard, upkeepTickets } = needs;
  const states = new Map(
    jobs.map((job): [string, JobState] => [
      job.name,
      { job, isSettling: true, heardAt: -Infinity, failures: 0, hasFailed: false, runAgain: false },
    ]),
  );
  const timers: NodeJS.Timeout[] = [];
  let opening: Promise<WorkerPool> | undefined;
  let pool: WorkerPool | undefined;
  let isStopping = false;
  let backupResult: FolderBackupResult | null = null;

  const stateOf = (name: string): JobState => {
    const state = states.get(name);
    if (!state) throw new Error(`unknown job ${name}`);
    return state;
  };

  function onMessage(name: string, message: WorkerMessage): void {
    const { alive, error, answered, fault, backup, ...done } = message;
    if (fault !== undefined) {
      guard.noteFault(fault);
      return;
    }
    const state = stateOf(name);
    state.failures = 0;
    state.heardAt = performance.now();
    if (error !== undefined) logger.error({ job: name }, error);
    if (backup) backupResult = backup;
    else if (!alive) logger.info({ job: name, ...done }, 'job done');
    if (done.emitted) wakeDispatcher();
    if (done.held) clockGuard.isTrusted();
    needs.onChanged(topicsOf(message));
    if (answered !== undefined) upkeepTickets.settle(answered);
  }

  function onFailed(name: string, error: Error): void {
    const state = stateOf(name);
    logger.error({ job: name, err: error }, 'job failed');
    if (name === SCHEDULED_BACKUP) backupResult = failed(error.message);
    state.hasFailed = true;
  }

  /** Not earlier: a caller that has the result may ask for another backup, which takes another worker. */
  function reportBackup(): void {
    needs.onBackup(backupResult ?? failed('the backup ended without a result'));
    backupResult = null;
  }

  function onGone(name: string): void {
    const state = stateOf(name);
    const { hasFailed, runAgain } = state;
    state.hasFailed = false;
    if (hasFailed) state.failures += 1;
    if (name === SCHEDULED_BACKUP && !isStopping) reportBackup();
    if (isStopping) return;
    if (state.job.isDue) {
      // Its own schedule says when to try again.
      state.runAgain = false;
      state.heardAt = performance.now();
    } else if (hasFailed) {
      timers.push(setTimeout(() => runUnlessStopped(name), RETRY_MS));
    } else if (runAgain) {
      state.runAgain = false;
      runUnlessStopped(name);
    } else if (name === CERTIFICATE_UPKEEP) {
      // The worker was already ending when it was asked.
      askForUpkeep();
    }
  }

  /** Opened for the first run. If that fails, no job can run, which `areFine` reports. */
  function openPool(): Promise<WorkerPool> {
    if (opening) return opening;
    const workers = jobs.map(({ name, workerData }) => ({ name, file: needs.workerFile(name), workerData }));
    opening = createWorkerPool(workers, {
      onMessage: (name, message) => onMessage(name, message as WorkerMessage),
      onFailed,
      onGone,
    }).then((opened) => {
      pool = opened;
      askForUpkeep();
      return opened;
    });
    opening.catch((error: unknown) => {
      for (const state of states.values()) state.failures = FAILURES_UNTIL_FAILING;
      logger.error({ err: error as Error }, 'cannot start the jobs');
    });
    return opening;
  }

  /** Skips the run if one is in progress: the next interval is soon enough. */
  function runUnlessStopped(name: string): void {
    if (!guard.isStopped()) pool?.run(name);
  }

  function run(state: JobState): void {
    // Checked again at the next interval; nothing is lost meanwhile.
    if ((state.job.needsTrustedClock && !clockGuard.isTrusted()) || state.job.isDue?.() === false) {
      state.heardAt = performance.now();
      return;
    }
    openPool().then(
      () => isStopping || runUnlessStopped(state.job.name),
      () => undefined,
    );
  }

  function begin(name: string): void {
    const state = stateOf(name);
    if (!state.isSettling || isStopping) return;
    state.isSettling = false;
    state.heardAt = performance.now();
    run(state);
    timers.push(setInterval(() => run(state), state.job.everySeconds * 1000));
  }

  function wakeDispatcher(): void {
    begin(DISPATCHER);
    pool?.post(DISPATCHER, 'wake');
  }

  function askForUpkeep(): void {
    const newest = upkeepTickets.newestOpen();
    if (newest === null || guard.isStopped()) return;
    pool?.run(CERTIFICATE_UPKEEP);
    pool?.post(CERTIFICATE_UPKEEP, newest);
  }

  for (const { name, settleMs } of jobs) timers.push(setTimeout(() => begin(name), settleMs(needs.settleMs)));

  return {
    begin,
    wake() {
      for (const [name, state] of states) {
        // Retention is never urgent, and must not run while the clock moves.
        if (name === RETENTION) continue;
        begin(name);
        // Records that the current run has already passed may have become due.
        if (name !== DISPATCHER && pool?.has(name)) state.runAgain = true;
        else run(state);
      }
      wakeDispatcher();
    },
    wakeDispatcher,
    askForUpkeep,
    runBackup() {
      if (guard.isStopped()) {
        needs.onBackup(failed('the data directory was removed or replaced'));
        return;
      }
      stateOf(SCHEDULED_BACKUP).heardAt = performance.now();
      openPool().then(
        () => isStopping || pool?.run(SCHEDULED_BACKUP),
        (error: unknown) => needs.onBackup(failed((error as Error).message)),
      );
    },
    cancel: () => pool?.postToAll('cancel'),
    isRunning: (name) => pool?.has(name) ?? false,
    areFine: () => [...states.values()].every((state) => isFine(state)),
    async stop() {
      isStopping = true;
      for (const timer of timers) clearInterval(timer);
      const opened = await opening?.catch(() => undefined);
      await opened?.stop();
    },
  };
}
