// What a service needs, and what it offers to its process.
import type { AdminAddresses } from '#server/features/admin-session/admin-addresses.ts';
import type { AdminSessionService } from '#server/features/admin-session/admin-session-service.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { ApiTokenService } from '#server/features/api-tokens/api-token-service.ts';
import type { FolderBackupResult, ScheduledBackup } from '#server/features/backup/folder-backup.ts';
import type { Cluster } from './compose-cluster.ts';
import type { ServerStatusReports } from './compose-overview.ts';
import type { StorageReports } from './compose-storage.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { DroppedLines } from '#server/platform/dropped-lines.ts';
import type { Leadership } from '#server/platform/leadership.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { MountOptions } from '#server/platform/mount.ts';
import type { Route } from '#server/platform/route.ts';
import type { SharedTime } from '#server/platform/shared-time.ts';
import type { SecurityLog } from '#server/platform/security-log.ts';
import type { TlsSource } from '#server/platform/tls-credentials.ts';

export interface ServiceEnvironment {
  config: Config;
  clock: Clock;
  /** The same clock, where it follows a database that several servers share; otherwise null. */
  sharedTime: SharedTime | null;
  /** Whether this server does what one does for all. */
  leadership: Leadership;
  logger: Logger;
  security: SecurityLog;
  droppedLines: DroppedLines;
  runtimeSecret: string;
  jobsAreFine(): boolean;
  /** Whether the server is starting or stopping. */
  isDraining(): boolean;
  /** Whether the system clock can be trusted. */
  isClockTrusted(): boolean;
  /** `clock` without jumps that are not trusted. */
  steadyClock: Clock;
  /** Receives storage faults, and stops writes when the storage is lost. */
  guard: ControlledGuard;
  /** Whether to start a new installation even if the data directory has lost its database. */
  newInstallation: boolean;
  /** Called after webhook deliveries have been committed. */
  onDeliveriesQueued(): void;
  /** Runs certificate maintenance in a job; null without jobs. */
  runCertificateUpkeep: (() => Promise<void>) | null;
  /** The job that runs daily backups; null without jobs. */
  backupJob: { run(): void; isRunning(): boolean } | null;
  adminAddresses: Pick<AdminAddresses, 'signIn' | 'cookieOf'>;
  apiBaseUrl(): string;
  /** The ports that the server listens on. */
  ownPorts(): readonly number[];
  /** Ends the process so that its supervisor restarts it; null without a supervisor. */
  restart: (() => void) | null;
}

/** Whether the jobs have anything to do. */
export interface PendingWork {
  notices(): Promise<boolean>;
  deliveries(): Promise<boolean>;
  certificates(): Promise<boolean>;
}

/** The daily backup, for its job. */
export interface BackupJob {
  /** For the worker; null where there is nothing to back up, or nowhere to write it to. */
  workerData: ScheduledBackup | null;
  isDue(): boolean;
  onResult(result: FolderBackupResult): void;
}

export interface Service {
  publicRoutes: Route[];
  adminRoutes: Route[];
  apiTokens: ApiTokenService;
  sessions: AdminSessionService;
  live: LiveStreams;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  storage: StorageReports;
  /** Status reports for the desktop app. */
  status: ServerStatusReports;
  runOnce: NonNullable<MountOptions['runOnce']>;
  /** For the jobs, which open secrets in their own threads. */
  masterKey: Uint8Array;
  /** Credentials of the API listener; null without TLS. @throws ConfigError */
  openTls(): Promise<TlsSource | null>;
  pending: PendingWork;
  /** Raises alerts for conditions that began before this server started, in the background. */
  raiseAlerts(): void;
  backups: BackupJob;
  /** The servers that use the same database. */
  cluster: Pick<Cluster, 'join' | 'servers' | 'sharedCounts' | 'readLists'>;
  /** Ends leases that are due and serves waiting clients, in the background. */
  maintainLeases(): void;
  /** Lets almost completed imports finish and undoes the others. No new import starts. */
  endImports(): Promise<void>;
  close(): Promise<void>;
}
