// Runs the jobs of a list: schedules them and handles the end of each run.
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Leader } from '#server/platform/leadership.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { FolderBackupResult } from '#server/features/backup/folder-backup.ts';
import { CERTIFICATE_UPKEEP, DISPATCHER, type Job, RETENTION, SCHEDULED_BACKUP } from './job-list.ts';
import { createJobState, type JobState } from './job-state.ts';
import type { Tickets } from './tickets.ts';
import { topicsOf, type WorkerMessage } from './worker-message.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

interface Needs {
  logger: Logger;
  clockGuard: Pick<ClockGuard, 'isTrusted'>;
  leadership: Leader;
  guard: Pick<StorageGuard, 'noteFault' | 'isStopped'>;
  /** How long jobs without waiting callers are delayed after the start. */
  settleMs: number;
  /** Requests for certificate maintenance. */
  upkeepTickets: Pick<Tickets, 'settle' | 'newestOpen'>;
  /** The path of a job's worker. */
  workerFile(name: string): string;
  /** Called with the topics that a job has changed. */
  onChanged(topics: LiveTopic[]): void;
  /** Called with the result of each daily backup, also if its worker has died. */
  onBackup(result: FolderBackupResult): void;
}

export interface JobRunner {
  /** Starts the job's schedule early. */
  begin(name: string): void;
  /** Begins the jobs that have something to do. */
  beginPending(): void;
  /** Runs each job, or once more if it is running. */
  wake(): void;
  wakeDispatcher(): void;
  /** Runs the shared jobs that have begun, because this server leads now. */
  takeOver(): void;
  /** Answers the newest open ticket with the existing worker or a new one, also if another server leads. */
  askForUpkeep(): void;
  /** Backs up now, unless a backup is in progress. `onBackup` is called in either case. */
  runBackup(): void;
  /** Asks every worker to finish its batch. */
  cancel(): void;
  areFine(): boolean;
  isRunning(name: string): boolean;
  stop(): Promise<void>;
}

function failed(message: string): FolderBackupResult {
  return { outcome: 'failed', problem: 'other', message };
}

export function startJobRunner(jobs: readonly Job[], needs: Needs): JobRunner {
  const { logger, clockGuard, leadership, guard, upkeepTickets } = needs;
  const states = new Map(jobs.map((job): [string, JobState] => [job.name, createJobState(job, logger)]));
  const timers: NodeJS.Timeout[] = [];
  const questions: Promise<unknown>[] = [];
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
    const { alive, error, recovered, answered, fault, backup, ...done } = message;
    if (fault !== undefined) {
      guard.noteFault(fault);
      return;
    }
    if (error === undefined) stateOf(name).noteAlive();
    else logger.error({ job: name }, error);
    if (recovered) logger.info({ job: name }, 'job works again');
    if (backup) backupResult = backup;
    else if (!alive) logger.info({ job: name, ...done }, 'job done');
    if (done.emitted) wakeDispatcher();
    if (done.held) clockGuard.isTrusted();
    needs.onChanged(topicsOf(message));
    if (answered !== undefined) upkeepTickets.settle(answered);
  }

  function onFailed(name: string, error: Error): void {
    const state = stateOf(name);
    // The exit that follows an error adds nothing.
    if (state.hasFailed) return;
    state.hasFailed = true;
    state.noteFailure(error);
    if (name === SCHEDULED_BACKUP) backupResult = failed(error.message);
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
    if (name === SCHEDULED_BACKUP && !isStopping) reportBackup();
    if (isStopping) return;
    if (state.job.isDue) {
      // Its own schedule says when to try again.
      if (hasFailed) state.countFailure();
      state.runAgain = false;
      state.noteOnTime();
    } else if (hasFailed) {
      retryLater(state);
    } else {
      // The worker was already ending when it was asked.
      if (name === CERTIFICATE_UPKEEP) askForUpkeep();
      // A delivery may have come while it was ending.
      if (runAgain || name === DISPATCHER) {
        state.runAgain = false;
        run(state);
      }
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
      for (const state of states.values()) state.giveUp();
      logger.error({ err: error as Error }, 'cannot start the jobs');
    });
    return opening;
  }

  /** Skips the run if one is in progress: the next interval is soon enough. */
  function runUnlessStopped(name: string): void {
    if (!guard.isStopped()) pool?.run(name);
  }

  function retryLater(state: JobState): void {
    // A caller has asked for the run that failed, and did not wait for the retry.
    state.clearRetry();
    state.retry = setTimeout(() => {
      state.retry = undefined;
      // The leader does not know of it.
      if (state.job.name === CERTIFICATE_UPKEEP && upkeepTickets.newestOpen() !== null) askForUpkeep();
      else run(state);
    }, state.countFailure());
  }

  function start({ name }: Job): void {
    openPool().then(
      () => isStopping || runUnlessStopped(name),
      () => undefined,
    );
  }

  /** Starts the worker if the job has work: a thread costs memory, and more time than most questions. */
  async function startForWork(state: JobState, hasWork: () => Promise<boolean>): Promise<void> {
    const { job } = state;
    try {
      const isNeeded = await hasWork();
      if (isStopping) return;
      if (isNeeded) {
        start(job);
        return;
      }
      state.noteAlive();
      if (job.name !== DISPATCHER) logger.info({ job: job.name, due: false }, 'job done');
    } catch (error) {
      if (isStopping) return;
      state.noteFailure(error as Error);
      retryLater(state);
      state.waitsForDatabase = true;
    }
  }

  function run(state: JobState): void {
    // Checked again at the next interval; nothing is lost meanwhile.
    const { needsTrustedClock, isShared, isDue } = state.job;
    const isElsewhere = isShared && !leadership.isLeader();
    // Callers of this server may need the retry, although another server leads.
    if (isElsewhere && !state.retry) state.forgetFailures();
    if (isElsewhere || (needsTrustedClock && !clockGuard.isTrusted()) || isDue?.() === false) {
      state.noteOnTime();
      return;
    }
    const { job } = state;
    if (state.retry || isStopping || guard.isStopped() || pool?.has(job.name)) return;
    if (!job.hasWork) {
      start(job);
      return;
    }
    if (state.asking) {
      state.runAgain = true;
      return;
    }
    state.asking = startForWork(state, job.hasWork).finally(() => {
      state.asking = undefined;
      if (!state.runAgain) return;
      state.runAgain = false;
      run(state);
    });
  }

  function begin(name: string): void {
    const state = stateOf(name);
    if (!state.isSettling || isStopping) return;
    state.isSettling = false;
    state.noteOnTime();
    run(state);
    timers.push(setInterval(() => run(state), state.job.everySeconds * 1000));
  }

  function wakeDispatcher(): void {
    const state = stateOf(DISPATCHER);
    // The database has just stored a delivery. A worker that fails at each start still has to wait.
    if (state.waitsForDatabase) state.clearRetry();
    if (pool?.has(DISPATCHER)) pool.post(DISPATCHER, 'wake');
    else if (state.isSettling) begin(DISPATCHER);
    else run(state);
  }

  function askForUpkeep(): void {
    const newest = upkeepTickets.newestOpen();
    if (newest === null || isStopping || guard.isStopped()) return;
    // Asks again once it is open.
    if (!pool) openPool().catch(() => undefined);
    pool?.run(CERTIFICATE_UPKEEP);
    pool?.post(CERTIFICATE_UPKEEP, newest);
  }

  for (const { name, settleMs } of jobs) timers.push(setTimeout(() => begin(name), settleMs(needs.settleMs)));

  return {
    begin,
    beginPending() {
      for (const { job } of states.values()) {
        if (!job.hasWork || (job.needsTrustedClock && !clockGuard.isTrusted())) continue;
        const looking = job.hasWork().then(
          (isPending) => isPending && begin(job.name),
          // The first run reports what is wrong with the database.
          () => undefined,
        );
        questions.push(looking);
      }
    },
    wake() {
      for (const [name, state] of states) {
        // Retention is never urgent, and must not run while the clock moves.
        if (name === RETENTION || name === DISPATCHER) continue;
        // Records that the current run has already passed may have become due.
        if (pool?.has(name)) state.runAgain = true;
        else if (state.isSettling) begin(name);
        else run(state);
      }
      wakeDispatcher();
    },
    wakeDispatcher,
    takeOver() {
      for (const state of states.values()) if (state.job.isShared && !state.isSettling) run(state);
    },
    askForUpkeep,
    runBackup() {
      if (guard.isStopped()) {
        needs.onBackup(failed('the data directory was removed or replaced'));
        return;
      }
      stateOf(SCHEDULED_BACKUP).noteOnTime();
      openPool().then(
        () => isStopping || pool?.run(SCHEDULED_BACKUP),
        (error: unknown) => needs.onBackup(failed((error as Error).message)),
      );
    },
    cancel: () => pool?.postToAll('cancel'),
    isRunning: (name) => pool?.has(name) ?? false,
    areFine: () => [...states.values()].every((state) => state.isFine()),
    async stop() {
      isStopping = true;
      for (const timer of timers) clearInterval(timer);
      for (const state of states.values()) state.clearRetry();
      await Promise.all([...questions, ...[...states.values()].map(({ asking }) => asking)]);
      const opened = await opening?.catch(() => undefined);
      await opened?.stop();
    },
  };
}
