// The jobs, their intervals and the data for their workers.
import type { DatabaseLocation } from '#server/database/connect.ts';
import type { Config } from '#server/platform/config.ts';
import { retentionPeriods, type RetentionSettings } from '#server/features/retention/retention-periods.ts';
import type { ScheduledBackup } from '#server/features/backup/folder-backup.ts';
import type { PendingWork } from '#server/wiring/service.ts';
import { type SenderConfig, senderSettings } from '#server/wiring/webhook-sender.ts';
import type { CertificateUpkeepData } from './certificate-upkeep-worker.ts';
import type { LicenseScanData } from './license-scan-worker.ts';
import type { RetentionData } from './retention-worker.ts';
import type { ScheduledBackupData } from './scheduled-backup-worker.ts';
import type { DispatcherData } from './webhook-dispatcher-worker.ts';

export interface Job {
  name: string;
  /** Run interval. A run in progress is not interrupted; a permanent job is restarted if it dies. */
  everySeconds: number;
  /** Delay of the first run after the start. @param ms how long jobs wait after the start */
  settleMs(ms: number): number;
  /** Whether its effects with a wrong clock could not be undone. */
  needsTrustedClock: boolean;
  /** Whether one server runs it for all that use the database. */
  isShared: boolean;
  /** Asked at each interval; without it, every interval has a run. */
  isDue?(): boolean;
  /** Asked before a worker is started; without it, there is always something to do. */
  hasWork?(): Promise<boolean>;
  workerData: object;
}

export type JobConfig = RetentionSettings &
  SenderConfig &
  Pick<Config, 'dataDir' | 'scanSeconds' | 'webhookBackoffSeconds'>;

const SCAN = 'license-scan';
export const DISPATCHER = 'webhook-dispatcher';
export const CERTIFICATE_UPKEEP = 'certificate-upkeep';
export const RETENTION = 'retention';
export const SCHEDULED_BACKUP = 'scheduled-backup';

const DISPATCHER_BACK_SECONDS = 5;
const CERTIFICATE_UPKEEP_SECONDS = 300;
const RETENTION_SECONDS = 3600;
/** Five minutes after the start, when a wrong clock has usually been corrected. */
const RETENTION_SETTLE_FACTOR = 60;
/** The schedule has hours; a retry after a failure has minutes. */
const BACKUP_SECONDS = 60;
/** A minute after the start, when a network drive is usually connected. */
const BACKUP_SETTLE_FACTOR = 12;

interface Needs {
  pending: PendingWork;
  location: DatabaseLocation;
  config: JobConfig;
  /** Opens webhook secrets and the certificate authority's key. */
  masterKey: Uint8Array;
  /** The clock guard's shared offset. */
  trustedOffset: SharedArrayBuffer;
  /** The buffer of the time that servers share; null for the clock of this machine. */
  sharedTime: SharedArrayBuffer | null;
  /** The buffer of the leadership. */
  leadership: SharedArrayBuffer;
  /** Null without a backup folder. */
  backup: { workerData: ScheduledBackup; isDue(): boolean } | null;
}

export function listJobs(needs: Needs): Job[] {
  const { pending, location, config, masterKey, trustedOffset, sharedTime, leadership, backup } = needs;
  const dispatcherData: DispatcherData = {
    location,
    sharedTime,
    masterKey,
    backoffMs: config.webhookBackoffSeconds * 1000,
    sender: senderSettings(config),
  };
  const scanData: LicenseScanData = { location, trustedOffset, sharedTime, leadership };
  const upkeepData: CertificateUpkeepData = { location, masterKey, trustedOffset, sharedTime };
  const retentionData: RetentionData = {
    location,
    dataDir: config.dataDir,
    periods: retentionPeriods(config),
    trustedOffset,
    sharedTime,
    leadership,
  };
  return [
    {
      name: SCAN,
      everySeconds: config.scanSeconds,
      // With a shorter scan interval, the first scan runs sooner.
      settleMs: (ms) => Math.min(ms, config.scanSeconds * 1000),
      needsTrustedClock: true,
      hasWork: pending.notices,
      isShared: true,
      workerData: scanData,
    },
    {
      name: CERTIFICATE_UPKEEP,
      everySeconds: CERTIFICATE_UPKEEP_SECONDS,
      settleMs: (ms) => ms,
      needsTrustedClock: false,
      hasWork: pending.certificates,
      isShared: true,
      workerData: upkeepData,
    },
    {
      name: RETENTION,
      everySeconds: RETENTION_SECONDS,
      settleMs: (ms) => ms * RETENTION_SETTLE_FACTOR,
      needsTrustedClock: true,
      // Each server tidies its own data directory; the leader also tidies the database.
      isShared: false,
      workerData: retentionData,
    },
    {
      name: DISPATCHER,
      everySeconds: DISPATCHER_BACK_SECONDS,
      settleMs: (ms) => ms,
      needsTrustedClock: false,
      hasWork: pending.deliveries,
      isShared: false,
      workerData: dispatcherData,
    },
    ...(backup
      ? [
          {
            name: SCHEDULED_BACKUP,
            everySeconds: BACKUP_SECONDS,
            settleMs: (ms: number) => ms * BACKUP_SETTLE_FACTOR,
            needsTrustedClock: true,
            // Only the server whose settings ask for it has the folder and the passphrase.
            isShared: false,
            isDue: backup.isDue,
            workerData: { ...backup.workerData, sharedTime } satisfies ScheduledBackupData,
          },
        ]
      : []),
  ];
}
