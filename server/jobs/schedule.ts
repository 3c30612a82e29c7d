// The jobs of a server, as the rest of it sees them.
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import { CERTIFICATE_UPKEEP, DISPATCHER, type JobConfig, listJobs, SCAN } from './job-list.ts';
import { type JobRunner, startJobRunner } from './job-runner.ts';
import { createTickets } from './tickets.ts';
import { workerFile } from './worker-file.ts';

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

/** A caller waits no longer than this for work that is done in any case. */
const PATIENCE_MS = 6000;

export function createJobs({ location, config, ...needs }: Needs): Jobs {
  const upkeepTickets = createTickets();
  let runner: JobRunner | undefined;
  let lookedForOverdue: Promise<void> | undefined;

  async function beginOverdue(started: JobRunner, overdue: () => Promise<Overdue>): Promise<void> {
    try {
      const { notices, deliveries, certificates } = await overdue();
      if (notices) started.begin(SCAN);
      if (deliveries) started.begin(DISPATCHER);
      if (certificates) started.begin(CERTIFICATE_UPKEEP);
    } catch {
      // The jobs themselves will say what is wrong with the database.
    }
  }

  return {
    start(masterKey, onChanged, overdue) {
      const jobs = listJobs({ location, config, masterKey, trustedOffset: needs.clockGuard.shared });
      runner = startJobRunner(jobs, { ...needs, upkeepTickets, workerFile, onChanged });
      lookedForOverdue = beginOverdue(runner, overdue);
    },
    async stop() {
      await Promise.all([runner?.stop(), lookedForOverdue]);
    },
    cancel: () => runner?.cancel(),
    areFine: () => runner?.areFine() ?? true,
    wakeDispatcher: () => runner?.wakeDispatcher(),
    wake: () => runner?.wake(),
    async runCertificateUpkeep() {
      const settled = upkeepTickets.take(PATIENCE_MS);
      runner?.begin(CERTIFICATE_UPKEEP);
      runner?.askForUpkeep();
      await settled;
    },
  };
}
