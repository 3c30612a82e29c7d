// What a service is made from, and what it offers to the process around it.
import type { AdminSessionService } from '#server/features/admin-session/admin-session-service.ts';
import type { AlertBoard } from '#server/features/alerts/alert-board.ts';
import type { ApiTokenService } from '#server/features/api-tokens/api-token-service.ts';
import type { ServerStatusReports } from './compose-overview.ts';
import type { StorageReports } from './compose-storage.ts';
import type { ControlledGuard } from '#server/database/storage-guard.ts';
import type { Overdue } from '#server/jobs/schedule.ts';
import type { LiveStreams } from '#server/features/live/live-streams.ts';
import type { Clock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import type { DroppedLines } from '#server/platform/dropped-lines.ts';
import type { Logger } from '#server/platform/logger.ts';
import type { MountOptions } from '#server/platform/mount.ts';
import type { Route } from '#server/platform/route.ts';
import type { SecurityLog } from '#server/platform/security-log.ts';
import type { TlsSource } from '#server/platform/tls-credentials.ts';

export interface Surroundings {
  config: Config;
  clock: Clock;
  logger: Logger;
  security: SecurityLog;
  droppedLines: DroppedLines;
  runtimeSecret: string;
  jobsAreFine(): boolean;
  /** Whether the server is still starting, or stopping. */
  isDraining(): boolean;
  /** Whether the time of day can be relied on. */
  isClockTrusted(): boolean;
  /** Stops writes when the storage is lost, and hears of its faults. */
  guard: ControlledGuard;
  /** Whether to start over where the data directory has had a database that is lost. */
  newInstallation: boolean;
  /** Webhook deliveries have been committed. */
  onDeliveriesQueued(): void;
  /** Has a job do the upkeep of certificates; null where there are no jobs. */
  runCertificateUpkeep: (() => Promise<void>) | null;
  /** The back office with a one-time code. */
  signInAddress(code: string): string;
  adminPort(): number;
  apiBaseUrl(): string;
  /** Those that the server listens on. */
  ownPorts(): readonly number[];
  /** Ends the process, which is then started again; null where nobody would do that. */
  restart: (() => void) | null;
}

export interface Service {
  publicRoutes: Route[];
  adminRoutes: Route[];
  apiTokens: ApiTokenService;
  sessions: AdminSessionService;
  live: LiveStreams;
  alerts: Pick<AlertBoard, 'raise' | 'clear'>;
  storage: StorageReports;
  /** How the service is, for whoever runs it. */
  status: ServerStatusReports;
  runOnce: NonNullable<MountOptions['runOnce']>;
  /** For the jobs, which open secrets in threads of their own. */
  masterKey: Uint8Array;
  /** What the API listener shows its clients; null without TLS. @throws ConfigError */
  openTls(): Promise<TlsSource | null>;
  /** What has been waiting for a job since before this server ran. */
  overdue(): Promise<Overdue>;
  /** Raises the alerts of conditions that began before this server started, in the background. */
  raiseAlerts(): void;
  /** Undoes imports that do not come to their end in a moment; none begins any more. */
  endImports(): Promise<void>;
  close(): Promise<void>;
}
