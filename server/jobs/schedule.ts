// The interface between the jobs and the rest of the server.
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { StorageGuard } from '#server/database/storage-guard.ts';
import type { LiveTopic } from '#server/features/live/live-contract.ts';
import type { ClockGuard } from '#server/platform/clock-guard.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { Leadership } from '#server/platform/leadership.ts';
import type { SharedTime } from '#server/platform/shared-time.ts';
import type { BackupJob, PendingWork } from '#server/wiring/service.ts';
import { CERTIFICATE_UPKEEP, type JobConfig, listJobs, SCHEDULED_BACKUP } from './job-list.ts';
import { type JobRunner, startJobRunner } from './job-runner.ts';
import { createTickets } from './tickets.ts';
import { workerFile } from './worker-file.ts';

export interface Jobs {
  /**
   * Starts the jobs in the background: those with something to do immediately, the others later. `areFine` reports a
   * failure.
   * @param masterKey opens webhook secrets and the certificate authority's key
   * @param onChanged called with the topics that a job has changed
   */
  start(
    masterKey: Uint8Array,
    onChanged: (topics: LiveTopic[]) => void,
    pending: PendingWork,
    backups: BackupJob,
  ): void;
  /** Lets running jobs finish their batch. */
  stop(): Promise<void>;
  /** The same, but jobs run again once the guard allows writes. */
  cancel(): void;
  /** Call it when the guard allows writes again: callers may have asked for a run that was canceled. */
  resume(): void;
  /** Whether each job's last run succeeded and was on time. */
  areFine(): boolean;
  /** Call it after deliveries have become due. */
  wakeDispatcher(): void;
  /** Runs each job, or once more if it is running. */
  wake(): void;
  /** Maintains certificates now. Resolves when a run that began after this call has ended, or after a time limit. */
  runCertificateUpkeep(): Promise<void>;
  /** Backs up now. The result goes to `onResult`. */
  runBackup(): void;
  isBackingUp(): boolean;
}

export interface JobOptions {
  /** The path of a job's worker, instead of the one that belongs to this code. */
  workerFile?: ((name: string) => string) | undefined;
  /** How long callers wait for certificate maintenance, instead of the usual time. */
  upkeepTimeoutMs?: number | undefined;
}

interface Needs extends JobOptions {
  location: DatabaseLocation;
  config: JobConfig;
  logger: Logger;
  clockGuard: ClockGuard;
  /** Null for the clock of this machine. */
  sharedTime: SharedTime | null;
  leadership: Leadership;
  /** How long jobs without waiting callers are delayed after the start. */
  settleMs: number;
  /** Receives the faults of workers. While it stops writes, no job starts. */
  guard: Pick<StorageGuard, 'noteFault' | 'isStopped'>;
}

/** Maximum time that a caller waits; the work continues regardless. */
export const UPKEEP_TIMEOUT_MS = 6000;

export function createJobs({ location, config, sharedTime, leadership, ...needs }: Needs): Jobs {
  const upkeepTickets = createTickets();
  let runner: JobRunner | undefined;

  leadership.onChange((isLeader) => {
    if (isLeader) runner?.takeOver();
  });

  return {
    start(masterKey, onChanged, pending, { workerData, isDue, onResult }) {
      const jobs = listJobs({
        pending,
        location,
        config,
        masterKey,
        trustedOffset: needs.clockGuard.shared,
        sharedTime: sharedTime?.buffer ?? null,
        leadership: leadership.buffer,
        backup: workerData && { workerData, isDue },
      });
      runner = startJobRunner(jobs, {
        ...needs,
        leadership,
        upkeepTickets,
        workerFile: needs.workerFile ?? workerFile,
        onChanged,
        onBackup: onResult,
      });
      runner.beginPending();
    },
    async stop() {
      await runner?.stop();
      upkeepTickets.close();
    },
    cancel: () => runner?.cancel(),
    resume: () => runner?.askForUpkeep(),
    areFine: () => runner?.areFine() ?? true,
    wakeDispatcher: () => runner?.wakeDispatcher(),
    wake: () => runner?.wake(),
    runBackup: () => runner?.runBackup(),
    isBackingUp: () => runner?.isRunning(SCHEDULED_BACKUP) ?? false,
    async runCertificateUpkeep() {
      const settled = upkeepTickets.take(needs.upkeepTimeoutMs ?? UPKEEP_TIMEOUT_MS);
      runner?.begin(CERTIFICATE_UPKEEP);
      runner?.askForUpkeep();
      await settled;
    },
  };
}
