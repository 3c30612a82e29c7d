// Starts and stops a server on a data directory: lock, log, service, two listeners, jobs.
import { join } from 'node:path';
import { apiBaseUrl, listenerAddress } from '#server/wiring/api-address.ts';
import { compose } from '#server/wiring/compose.ts';
import { createListeners } from '#server/wiring/listeners.ts';
import { tidyDataDirectory } from '#server/wiring/compose-administration.ts';
import type { Service } from '#server/wiring/service.ts';
import { PUBLIC_API_ROOT } from '#server/contract.ts';
import { prepareDataDirectory, takeDataDirectory } from '#server/installation/data-directory.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { refuseExposedFiles } from '#server/installation/exposed-files.ts';
import { createStorageGuard } from '#server/database/storage-guard.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { createAdminAddresses } from '#server/features/admin-session/admin-addresses.ts';
import { createJobs, type JobOptions } from '#server/jobs/schedule.ts';
import type { ServerStatus } from '#server/features/overview/server-status.ts';
import { createClockGuard } from '#server/platform/clock-guard.ts';
import { watchClock } from '#server/platform/clock-watch.ts';
import { type Clock, systemClock } from '#server/platform/clock.ts';
import type { Config } from '#server/platform/config.ts';
import { createDroppedLines } from '#server/platform/dropped-lines.ts';
import { createSharedTime } from '#server/platform/shared-time.ts';
import { createLeadership } from '#server/platform/leadership.ts';
import { watchLanAddress } from '#server/platform/lan-address.ts';
import { type Logger, openLog } from '#server/platform/logger.ts';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { requireUsableFiles } from '#server/platform/setting-files.ts';
import { settingWarnings } from '#server/platform/setting-warnings.ts';
import { newRuntimeSecret, removeRuntimeFile, writeRuntimeFile } from '#server/installation/runtime-file.ts';
import { VERSION } from '#server/installation/version.ts';
import { createStartedParts } from './started-parts.ts';

/** A command that has locked the directory usually finishes sooner. */
const LOCK_WAIT_MS = 5000;
/** Delays jobs, so that the first page and calls are fast: each job loads about as much code as the whole server. */
const SETTLE_MS = 5000;
/** At a stop, so that the database and the log can still be closed. */
const REQUESTS_END_BY_MS = 3000;
const LEAST_DRAIN_MS = 500;

export interface RunningServer {
  /** `http://127.0.0.1:8787/license/api/svc/` */
  api: string;
  /** `http://127.0.0.1:8788/?code=…`; each address is good for one sign-in. */
  newSignInAddress(): Promise<string>;
  /** Runs what became due while the computer slept, or through a clock change. */
  wake(): void;
  /** Reopens the log files. */
  reload(): void;
  /** Reports the status now and after each change, until the stop. */
  watchStatus(report: (status: ServerStatus) => void): void;
  /** Stops accepting requests, finishes those in progress, and leaves no half-written state. */
  stop(): Promise<void>;
  /** Logs that the process is about to end before the stop has finished, and what that interrupts. */
  reportForcedExit(): Promise<void>;
  /** Resolves when the database has answered a read, successfully or not. */
  readOnce(): Promise<void>;
}

interface StartOptions extends JobOptions {
  logToStderr: boolean;
  /** Aborts the start. */
  giveUp?: AbortSignal;
  /** Ends the process so that its supervisor restarts it; null without a supervisor. */
  restart?: (() => void) | null;
  /** How long non-urgent jobs are delayed after the start. */
  settleMs?: number;
  /** Starts a new installation even if the data directory has lost its database. */
  newInstallation?: boolean;
  /** Instead of the clock of the database, or of this machine. */
  clock?: Clock;
}

function warnAboutSettings(config: Config, baseUrl: string, alerts: Service['alerts'], logger: Logger): void {
  for (const { code, message } of settingWarnings(config)) {
    logger.warn({ code, api_base_url: baseUrl }, message);
    alerts.raise(code, { params: { host: config.host, admin_host: config.adminHost } });
  }
}

/**
 * Starts everything, or nothing.
 * @throws ConfigError, DataDirectoryError or UnusableDatabaseError, each with one line for the administrator; the
 *   reason of `giveUp`
 */
export async function startServer(
  config: Config,
  {
    logToStderr,
    giveUp,
    restart = null,
    settleMs = SETTLE_MS,
    newInstallation = false,
    ...given
  }: StartOptions,
): Promise<RunningServer> {
  const location = databaseLocation(config);
  const sharedTime = location.url === null || given.clock ? null : createSharedTime();
  const clock = given.clock ?? sharedTime ?? systemClock;
  prepareDataDirectory(config.dataDir, { mayBeNew: newInstallation });
  refuseExposedFiles(config);
  const parts = createStartedParts(giveUp);
  const started = parts.add;
  let isDraining = true;
  const stop = (): Promise<void> => {
    isDraining = true;
    return parts.end();
  };

  try {
    const lock = await takeDataDirectory(config.dataDir, LOCK_WAIT_MS, giveUp);
    started('data directory lock', () => lock.release());
    // First: completing a restore may be what makes the settings usable.
    await tidyDataDirectory(config);
    await requireUsableFiles(config);
    const logDir = join(config.dataDir, 'logs');
    const droppedLines = createDroppedLines();
    const log = await openLog(logDir, logToStderr, droppedLines.add);
    started('log', () => log.close());
    const { logger } = log;
    const security = createSecurityLog(logDir, droppedLines.add);
    started('security log', () => security.close());
    const guard = createStorageGuard();

    let { port, adminPort } = config;
    const runtimeSecret = newRuntimeSecret();
    const lan = await watchLanAddress(config.host);
    started('network watch', () => lan.close());
    const baseUrl = () => apiBaseUrl(config, port, lan.current());
    const clockGuard = createClockGuard({
      scanSeconds: config.scanSeconds,
      wallMs: (sharedTime ?? systemClock).now,
      onHeld(aheadMs) {
        const hours = Math.round(aheadMs / 3_600_000);
        logger.warn({ hours }, 'the clock jumped ahead; notices are on hold until it is confirmed');
        service.alerts.raise('clock_jumped', { params: { hours } });
      },
      onTrusted() {
        logger.warn('the clock is trusted again');
        service.alerts.clear('clock_jumped');
        jobs.wake();
      },
    });
    const leadership = createLeadership(location.url === null);
    const jobs = createJobs({
      location,
      config,
      logger,
      clockGuard,
      sharedTime,
      leadership,
      settleMs,
      guard,
      upkeepTimeoutMs: given.upkeepTimeoutMs,
      workerFile: given.workerFile,
    });
    const adminAddresses = createAdminAddresses({ adminUrl: config.adminUrl, port: () => adminPort });
    const service: Service = await compose({
      config,
      clock,
      sharedTime,
      leadership,
      logger,
      security,
      droppedLines,
      runtimeSecret,
      jobsAreFine: jobs.areFine,
      isDraining: () => isDraining,
      isClockTrusted: clockGuard.isTrusted,
      steadyClock: clockGuard.steady(clock),
      guard,
      newInstallation,
      onDeliveriesQueued: jobs.wakeDispatcher,
      runCertificateUpkeep: jobs.runCertificateUpkeep,
      backupJob: { run: jobs.runBackup, isRunning: jobs.isBackingUp },
      adminAddresses,
      apiBaseUrl: baseUrl,
      ownPorts: () => [port, adminPort],
      restart,
    });
    started('database', () => service.close());

    const tls = await service.openTls();
    started('TLS certificate', () => tls?.close());
    const { admin: adminServer, api: apiServer } = createListeners(service, tls, {
      config,
      clock,
      logger,
      security,
      adminAddresses,
      baseUrl,
    });
    const { live } = service;
    started('requests', async (elapsedMs) => {
      live.close();
      const withinMs = Math.max(LEAST_DRAIN_MS, REQUESTS_END_BY_MS - elapsedMs);
      await Promise.all([adminServer.close(withinMs), apiServer.close(withinMs)]);
    });
    adminPort = await adminServer.listen(config.adminPort, '--admin-port');
    port = await apiServer.listen(config.host, config.port, '--port');

    const api = `${listenerAddress(config, port)}${PUBLIC_API_ROOT}/`;
    writeRuntimeFile(config.dataDir, {
      pid: process.pid,
      version: VERSION,
      api,
      admin: adminAddresses.local(),
      secret: runtimeSecret,
    });
    // If the data directory was replaced, the runtime file in its place belongs to another server.
    const leaveDataDirectory = () => (guard.isGone() ? undefined : removeRuntimeFile(config.dataDir));
    started('runtime file', leaveDataDirectory);
    const watch = service.storage.watch(settleMs);
    started('storage watch', () => watch.end());
    jobs.start(service.masterKey, live.publish, service.pending, service.backups);
    service.raiseAlerts();
    service.maintainLeases();
    guard.onStop(jobs.cancel);
    guard.onResume(jobs.resume);
    started('jobs', async () => {
      await jobs.stop();
      // A caller may still wait for a backup.
      service.backups.onResult({ outcome: 'cancelled' });
    });
    const clockWatch = watchClock((seconds) => {
      logger.warn({ seconds }, 'the clock has jumped, or the computer has slept');
      jobs.wake();
    });
    started('clock watch', () => clockWatch.end());
    // First, because a running import blocks all other writes.
    started('imports', () => service.endImports());
    isDraining = false;
    service.cluster.join(listenerAddress({ ...config, host: lan.current() ?? config.host }, port));
    // First of all: it shows that this server is draining.
    started('server list', () => void service.cluster.servers.report());

    warnAboutSettings(config, baseUrl(), service.alerts, logger);
    logger.info({ api, admin: adminAddresses.local(), version: VERSION }, 'ready');
    return {
      api,
      newSignInAddress: async () => adminAddresses.signIn(await service.sessions.createCode()).address,
      wake: jobs.wake,
      reload() {
        log.reopen();
        logger.info('reopened the log files');
      },
      watchStatus: service.status.watch,
      stop,
      async reportForcedExit() {
        const requests = apiServer.requestsUnderWay() + adminServer.requestsUnderWay();
        logger.error({ ending: parts.ending(), requests }, 'forced exit: the server did not stop in time');
        leaveDataDirectory();
        await log.close();
      },
      readOnce: service.storage.readOnce,
    };
  } catch (error) {
    // The original error is the one to report.
    await stop().catch(() => {});
    throw aboutDatabase(error, location);
  }
}
