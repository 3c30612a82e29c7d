// Every job in one list, run by Bree in worker threads.
import type Bree from 'bree';
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import {
  CERTIFICATE_UPKEEP,
  DISPATCHER,
  type Job,
  type JobConfig,
  listJobs,
  RETENTION,
  SCAN,
} from './job-list.ts';
import { createTickets } from './tickets.ts';
import { workerFile } from './worker-file.ts';
import { topicsOf, type WorkerMessage } from './worker-message.ts';

/** Whether there is anything that a job should have done already. */
export interface Overdue {
  notices: boolean;
  deliveries: boolean;
  /** Revocations that no CRL has yet. */
  certificates: boolean;
}

export interface Jobs {
  /**
   * Begins in the background: what is overdue at once, the rest in a while. Should that fail, `areFine` says so.
   * @param masterKey opens the secrets that webhooks are signed with, and the certificate authority's key
   * @param onChanged what a job has changed
   */
  start(
    masterKey: Uint8Array,
    onChanged: (topics: LiveTopic[]) => void,
    overdue: () => Promise<Overdue>,
  ): void;
  /** Lets what runs finish its batch. */
  stop(): Promise<void>;
  /** The same, but the jobs run again once the guard lets them. */
  cancel(): void;
  /** Whether each job ended well the last time, and in time. */
  areFine(): boolean;
  /** Tells the dispatcher that deliveries have become due. */
  wakeDispatcher(): void;
  /** Runs each job, once more if it is running. */
  wake(): void;
  /** Does the upkeep of certificates now. Ends once a run that began after this call is over, or has taken too long. */
  runCertificateUpkeep(): Promise<void>;
}

interface Needs {
  location: DatabaseLocation;
  config: JobConfig;
  logger: Logger;
  clockGuard: ClockGuard;
  /** How long the jobs that nothing waits for leave a new server alone. */
  settleMs: number;
  /** Hears of the faults that workers run into; while it stops writes, no job begins. */
  guard: Pick<StorageGuard, 'noteFault' | 'isStopped'>;
}

/** Enough for what a worker leaves behind; V8 would let it grow to over 100 MB. */
const YOUNG_GENERATION_MB = 16;
/** A job that takes longer than this many of its intervals is late, though never before two minutes. */
const LATE_AFTER_INTERVALS = 3;
const LEAST_LATE_MS = 120_000;
/** A run that failed is tried again after this, however long its interval is. */
const RETRY_MS = 5000;
/** A database that is locked for a moment makes a run fail; a job that is broken fails again. */
const FAILURES_UNTIL_FAILING = 2;
/** A caller waits no longer than this for work that is done in any case. */
const PATIENCE_MS = 6000;

export function createJobs({ location, config, logger, clockGuard, settleMs, guard }: Needs): Jobs {
  let jobs: Job[] = [];
  const endedAt = new Map<string, number>();
  /** In a row, by job. */
  const failures = new Map<string, number>();
  const failedNow = new Set<string>();
  /** To be run once more when they are over. */
  const again = new Set<string>();

  const upkeepTickets = createTickets();

  let tellChanged: (topics: LiveTopic[]) => void = () => {};

  function onMessage(name: string, message: WorkerMessage): void {
    const { alive, error, answered, fault, ...done } = message;
    if (fault !== undefined) {
      guard.noteFault(fault);
      return;
    }
    failures.delete(name);
    endedAt.set(name, performance.now());
    if (error !== undefined) logger.error({ job: name }, error);
    if (!alive) logger.info({ job: name, ...done }, 'job done');
    if (done.emitted) wakeDispatcher();
    if (done.held) clockGuard.isTrusted();
    tellChanged(topicsOf(message));
    if (answered !== undefined) upkeepTickets.settle(answered);
  }

  let running: Bree | undefined;
  function wakeDispatcher(): void {
    begin(DISPATCHER);
    running?.workers.get(DISPATCHER)?.postMessage('wake');
  }

  /** To a worker that is there, or to one that is made for it. */
  function askForUpkeep(ticket: number): void {
    if (!running || guard.isStopped()) return;
    if (!running.workers.has(CERTIFICATE_UPKEEP)) void running.run(CERTIFICATE_UPKEEP);
    running.workers.get(CERTIFICATE_UPKEEP)?.postMessage(ticket);
  }

  async function createBree(): Promise<Bree> {
    // Loaded with the first job: it is a third of all that is to load.
    const { default: BreeScheduler } = await import('bree');
    const bree = new BreeScheduler({
      root: false,
      logger: false,
      acceptedExtensions: ['.js', '.ts'],
      // Without times of its own: Bree's follow the wall clock, so a clock set back by a day would stop them for one.
      timeout: false,
      jobs: jobs.map(({ name, workerData }) => ({
        name,
        path: workerFile(name),
        // Bree takes a path with `(` or `&` in it for source code unless it is told not to.
        worker: {
          eval: false,
          workerData,
          resourceLimits: { maxYoungGenerationSizeMb: YOUNG_GENERATION_MB },
        },
      })),
      workerMessageHandler: ({ name, message }) => onMessage(name, message as WorkerMessage),
      errorHandler(error, { name }) {
        // Told twice, of what was thrown and of the exit that followed.
        failedNow.add(name);
        logger.error({ job: name, err: error }, 'job failed');
      },
    });
    // From here on run() makes its worker at once, so that a stop right after it finds that worker.
    await (bree as Bree & { init(): Promise<void> }).init();
    bree.on('worker deleted', (name) => {
      const hasFailed = failedNow.delete(name);
      if (hasFailed) failures.set(name, (failures.get(name) ?? 0) + 1);
      if (stopping) return;
      const newest = upkeepTickets.newestOpen();
      if (hasFailed) timers.push(setTimeout(() => runUnlessRunning(bree, name), RETRY_MS));
      else if (again.delete(name)) runUnlessRunning(bree, name);
      // It was on its way out when it was asked.
      else if (name === CERTIFICATE_UPKEEP && newest !== null) askForUpkeep(newest);
    });
    return bree;
  }

  let scheduler: Promise<Bree> | undefined;
  const timers: NodeJS.Timeout[] = [];
  let stopping = false;

  function schedule(): Promise<Bree> {
    if (scheduler) return scheduler;
    scheduler = createBree().then((bree) => {
      running = bree;
      const newest = upkeepTickets.newestOpen();
      if (newest !== null) askForUpkeep(newest);
      return bree;
    });
    scheduler.catch((error: unknown) => {
      for (const { name } of jobs) failures.set(name, FAILURES_UNTIL_FAILING);
      logger.error({ err: error as Error }, 'the jobs cannot be started');
    });
    return scheduler;
  }

  /** While a run is still under way there is no other: the next interval is soon enough. */
  function runUnlessRunning(bree: Bree, name: string): void {
    if (!bree.workers.has(name) && !guard.isStopped()) void bree.run(name);
  }

  function run(name: string): void {
    // Asked again at the next interval; nothing is lost meanwhile.
    if (jobs.find((job) => job.name === name)?.needsTrustedClock && !clockGuard.isTrusted()) {
      endedAt.set(name, performance.now());
      return;
    }
    schedule().then(
      (bree) => stopping || runUnlessRunning(bree, name),
      () => undefined,
    );
  }

  /** The jobs that have not begun yet. */
  const settling = new Map<string, Job>();
  let looking: Promise<void> | undefined;

  function begin(name: string): void {
    const job = settling.get(name);
    if (!job || stopping) return;
    settling.delete(name);
    endedAt.set(name, performance.now());
    run(name);
    timers.push(setInterval(() => run(name), job.everySeconds * 1000));
  }

  const isFine = ({ name, everySeconds }: Job): boolean => {
    if (settling.has(name)) return true;
    const allowed = Math.max(LEAST_LATE_MS, everySeconds * 1000 * LATE_AFTER_INTERVALS);
    const since = endedAt.get(name);
    const isFailing = (failures.get(name) ?? 0) >= FAILURES_UNTIL_FAILING;
    return !isFailing && since !== undefined && performance.now() - since < allowed;
  };

  return {
    start(masterKey, onChanged, overdue) {
      tellChanged = onChanged;
      jobs = listJobs({ location, config, masterKey, trustedOffset: clockGuard.shared });
      for (const job of jobs) {
        settling.set(job.name, job);
        timers.push(setTimeout(() => begin(job.name), job.settleMs(settleMs)));
      }
      looking = overdue().then(
        ({ notices, deliveries, certificates }) => {
          if (notices) begin(SCAN);
          if (deliveries) begin(DISPATCHER);
          if (certificates) begin(CERTIFICATE_UPKEEP);
        },
        // The jobs themselves will say what is wrong with the database.
        () => undefined,
      );
    },
    async stop() {
      stopping = true;
      for (const timer of timers) clearInterval(timer);
      await looking;
      const bree = await scheduler?.catch(() => undefined);
      await bree?.stop();
    },
    cancel() {
      for (const worker of running?.workers.values() ?? []) worker.postMessage('cancel');
    },
    areFine: () => jobs.every((job) => isFine(job)),
    wakeDispatcher,
    wake() {
      for (const { name } of jobs) {
        // Nothing waits for it, least of all while the clock moves.
        if (name === RETENTION) continue;
        begin(name);
        // What one that runs has looked at already may have fallen due since.
        if (running?.workers.has(name) && name !== DISPATCHER) again.add(name);
        else run(name);
      }
      wakeDispatcher();
    },
    async runCertificateUpkeep() {
      const { ticket, settled } = upkeepTickets.take(PATIENCE_MS);
      begin(CERTIFICATE_UPKEEP);
      askForUpkeep(ticket);
      await settled;
    },
  };
}
