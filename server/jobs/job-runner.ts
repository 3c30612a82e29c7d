// Runs the jobs of a list: when each begins, how often it runs, and what follows from how a run ends.
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import { CERTIFICATE_UPKEEP, DISPATCHER, type Job, RETENTION } from './job-list.ts';
import type { Tickets } from './tickets.ts';
import { topicsOf, type WorkerMessage } from './worker-message.ts';
import { createWorkerPool, type WorkerPool } from './worker-pool.ts';

interface Needs {
  logger: Logger;
  clockGuard: Pick<ClockGuard, 'isTrusted'>;
  guard: Pick<StorageGuard, 'noteFault' | 'isStopped'>;
  /** How long the jobs that nothing waits for leave a new server alone. */
  settleMs: number;
  /** Callers who wait for the upkeep of certificates. */
  upkeepTickets: Pick<Tickets, 'settle' | 'newestOpen'>;
  /** The path of a job's worker. */
  workerFile(name: string): string;
  /** What a job has changed. */
  onChanged(topics: LiveTopic[]): void;
}

interface JobState {
  readonly job: Job;
  /** It has not begun: neither has its time come, nor has anything called for it. */
  isSettling: boolean;
  /** When a run was last heard of, by `performance.now()`. */
  heardAt: number;
  /** In a row. */
  failures: number;
  hasFailed: boolean;
  /** To be run once more when the present run is over. */
  runAgain: boolean;
}

export interface JobRunner {
  /** Starts the job's schedule ahead of its time. */
  begin(name: string): void;
  /** Runs each job, once more if it is running. */
  wake(): void;
  wakeDispatcher(): void;
  /** Has the newest ticket answered, by the worker that is there or by a new one. */
  askForUpkeep(): void;
  /** Tells every worker to finish its batch. */
  cancel(): void;
  areFine(): boolean;
  stop(): Promise<void>;
}

/** A job that takes longer than this many of its intervals is late, though never before two minutes. */
const LATE_AFTER_INTERVALS = 3;
const LEAST_LATE_MS = 120_000;
/** A run that failed is tried again after this, however long its interval is. */
const RETRY_MS = 5000;
/** A database that is locked for a moment makes a run fail; a job that is broken fails again. */
const FAILURES_UNTIL_FAILING = 2;

function isFine({ job, isSettling, heardAt, failures }: JobState): boolean {
  if (isSettling) return true;
  const allowed = Math.max(LEAST_LATE_MS, job.everySeconds * 1000 * LATE_AFTER_INTERVALS);
  return failures < FAILURES_UNTIL_FAILING && performance.now() - heardAt < allowed;
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

  const stateOf = (name: string): JobState => {
    const state = states.get(name);
    if (!state) throw new Error(`there is no job ${name}`);
    return state;
  };

  function onMessage(name: string, message: WorkerMessage): void {
    const { alive, error, answered, fault, ...done } = message;
    if (fault !== undefined) {
      guard.noteFault(fault);
      return;
    }
    const state = stateOf(name);
    state.failures = 0;
    state.heardAt = performance.now();
    if (error !== undefined) logger.error({ job: name }, error);
    if (!alive) logger.info({ job: name, ...done }, 'job done');
    if (done.emitted) wakeDispatcher();
    if (done.held) clockGuard.isTrusted();
    needs.onChanged(topicsOf(message));
    if (answered !== undefined) upkeepTickets.settle(answered);
  }

  function onFailed(name: string, error: Error): void {
    stateOf(name).hasFailed = true;
    logger.error({ job: name, err: error }, 'job failed');
  }

  function onGone(name: string): void {
    const state = stateOf(name);
    const { hasFailed, runAgain } = state;
    state.hasFailed = false;
    if (hasFailed) state.failures += 1;
    if (isStopping) return;
    if (hasFailed) {
      timers.push(setTimeout(() => runUnlessStopped(name), RETRY_MS));
    } else if (runAgain) {
      state.runAgain = false;
      runUnlessStopped(name);
    } else if (name === CERTIFICATE_UPKEEP) {
      // It was on its way out when it was asked.
      askForUpkeep();
    }
  }

  /** Opened for the first run. If that fails, no job ever runs, which `areFine` reports. */
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
      logger.error({ err: error as Error }, 'the jobs cannot be started');
    });
    return opening;
  }

  /** While a run is still under way there is no other: the next interval is soon enough. */
  function runUnlessStopped(name: string): void {
    if (!guard.isStopped()) pool?.run(name);
  }

  function run(state: JobState): void {
    // Asked again at the next interval; nothing is lost meanwhile.
    if (state.job.needsTrustedClock && !clockGuard.isTrusted()) {
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
        // Nothing waits for it, least of all while the clock moves.
        if (name === RETENTION) continue;
        begin(name);
        // What one that runs has looked at already may have fallen due since.
        if (name !== DISPATCHER && pool?.has(name)) state.runAgain = true;
        else run(state);
      }
      wakeDispatcher();
    },
    wakeDispatcher,
    askForUpkeep,
    cancel: () => pool?.postToAll('cancel'),
    areFine: () => [...states.values()].every((state) => isFine(state)),
    async stop() {
      isStopping = true;
      for (const timer of timers) clearInterval(timer);
      const opened = await opening?.catch(() => undefined);
      await opened?.stop();
    },
  };
}
