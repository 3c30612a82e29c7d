// Connects the CLI to the service: through the running server if there is one, otherwise directly to the database.
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { apiBaseUrl } from '#server/wiring/api-address.ts';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import {
  DataDirectoryError,
  endedMeanwhile,
  inUse,
  lockDataDirectory,
  notAnswering,
  prepareDataDirectory,
  problemOfOwner,
} from '#server/installation/data-directory.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { type DirectoryLock, isDirectoryLocked } from '#server/database/directory-lock.ts';
import { aboutDatabase } from '#server/database/unusable-database.ts';
import { refuseExposedFiles } from '#server/installation/exposed-files.ts';
import { cliCall } from '#server/platform/call.ts';
import {
  type Client,
  createClient,
  httpDownload,
  httpTransport,
  type Send,
  type Transport,
} from '#server/wire/client.ts';
import { systemClock } from '#server/platform/clock.ts';
import { createSharedTime } from '#server/platform/shared-time.ts';
import type { Config } from '#server/platform/config.ts';
import type { DocumentParts } from '#server/platform/document.ts';
import { createDroppedLines } from '#server/platform/dropped-lines.ts';
import { NoAnswerError, nodeSend, nodeSendWithin } from '#server/platform/node-send.ts';
import { invoke, invokeForFile, type Route } from '#server/platform/route.ts';
import { createLeadership } from '#server/platform/leadership.ts';
import { createSecurityLog } from '#server/platform/security-log.ts';
import { findLanAddress } from '#server/platform/lan-address.ts';
import { newRuntimeSecret, readRuntimeFile } from '#server/installation/runtime-file.ts';

export interface AdminAccess {
  client: Client<typeof adminContract>;
  /** Whether a server is running on the data directory and handles the calls. */
  throughServer: boolean;
  /** Calls an endpoint that returns a file. */
  download(name: keyof typeof adminContract, input: object): Promise<DocumentParts>;
  close(): Promise<void>;
}

/** A starting or stopping server, or another command, usually finishes sooner. A running server answers sooner. */
const WAIT_MS = 10_000;
const RETRY_MS = 100;
/** After this, a person at a terminal gets a notice. */
const NOTICE_MS = 1000;

const CONNECTION_LOST = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE']);

/** Not limited: imports and backups take long. @throws DataDirectoryError if the server ends meanwhile */
function sendWhileRunning(dataDir: string): Send {
  const rename = (error: NodeJS.ErrnoException): never => {
    throw CONNECTION_LOST.has(error.code ?? '') ? endedMeanwhile(dataDir) : error;
  };
  return async (url, sent) => {
    const reply = await nodeSend(url, sent).catch(rename);
    return { ...reply, json: () => reply.json().catch(rename) };
  };
}

/** @returns null if no server runs @throws DataDirectoryError if one runs and does not answer */
async function throughServer(config: Config, userName: string): Promise<AdminAccess | null> {
  const runtime = readRuntimeFile(config.dataDir);
  if (!runtime) return null;
  const headers = {
    authorization: `Bearer ${runtime.secret}`,
    'x-license-desk-user': encodeURIComponent(userName),
  };
  const root = `${runtime.admin}${ADMIN_API_ROOT}`;
  const probe = createClient(adminContract, httpTransport(root, headers, nodeSendWithin(WAIT_MS)));
  const send = sendWhileRunning(config.dataDir);
  const client = createClient(adminContract, httpTransport(root, headers, send));
  const fetchFile = httpDownload(root, headers, send);
  try {
    await probe.serverInfo({});
  } catch (error) {
    if (error instanceof NoAnswerError) throw notAnswering(config.dataDir);
    return null;
  }
  return {
    client,
    throughServer: true,
    download: async (name, input) => (await fetchFile(adminContract[name], input)).bytes(),
    close: async () => {},
  };
}

function localAccess(routes: readonly Route[], userName: string): Pick<AdminAccess, 'client' | 'download'> {
  const byName = new Map(routes.map((route) => [route.name, route]));
  const find = (name: string): Route => {
    const route = byName.get(name);
    if (!route) throw new Error(`unknown endpoint ${name}`);
    return route;
  };
  const transport: Transport = (name, _row, input) => invoke(find(name), input, cliCall(userName));
  return {
    client: createClient(adminContract, transport),
    download: (name, input) => invokeForFile(find(name), input, cliCall(userName)),
  };
}

async function onDatabase(config: Config, userName: string, lock: DirectoryLock): Promise<AdminAccess> {
  const noServer = (): never => {
    throw new DataDirectoryError(
      `no server is running on ${config.dataDir}; start one with \`license-desk serve\``,
    );
  };
  try {
    refuseExposedFiles(config);
    // Loaded on demand: commands that go through a server do not need it.
    const { refuseToDiscardCopy } = await import('#server/wiring/replaced-database.ts');
    refuseToDiscardCopy(config);
    const { compose } = await import('#server/wiring/compose.ts');
    const { createStorageGuard } = await import('#server/database/storage-guard.ts');
    const { default: pino } = await import('pino');
    const lanAddress = await findLanAddress(config.host);
    const sharedTime = config.databaseUrl === null ? null : createSharedTime();
    const service = await compose({
      config,
      clock: sharedTime ?? systemClock,
      sharedTime,
      leadership: createLeadership(true),
      logger: pino({ level: 'silent' }),
      security: createSecurityLog(join(config.dataDir, 'logs'), () => {}),
      droppedLines: createDroppedLines(),
      runtimeSecret: newRuntimeSecret(),
      jobsAreFine: () => true,
      isDraining: () => false,
      isClockTrusted: () => true,
      steadyClock: sharedTime ?? systemClock,
      guard: createStorageGuard(),
      newInstallation: false,
      // The next server that starts here sends them.
      onDeliveriesQueued: () => {},
      runCertificateUpkeep: null,
      backupJob: null,
      adminAddresses: { signIn: noServer, cookieOf: noServer },
      apiBaseUrl: () => apiBaseUrl(config, config.port, lanAddress),
      ownPorts: () => [],
      restart: null,
    });
    return {
      ...localAccess(service.adminRoutes, userName),
      throughServer: false,
      async close() {
        await service.close();
        await lock.release();
      },
    };
  } catch (error) {
    await lock.release();
    throw aboutDatabase(error, databaseLocation(config));
  }
}

/** @returns the server on the directory, or the lock if there is none @throws DataDirectoryError */
async function serverOrLock(
  config: Config,
  userName: string,
  onWait: () => void,
): Promise<AdminAccess | DirectoryLock> {
  const start = Date.now();
  let notice: NodeJS.Timeout | undefined;
  try {
    for (;;) {
      const lock = await lockDataDirectory(config.dataDir);
      if (lock) return lock;
      notice ??= setTimeout(onWait, NOTICE_MS);
      const access = await throughServer(config, userName);
      if (access) return access;
      if (Date.now() - start > WAIT_MS) throw inUse(config.dataDir);
      await delay(RETRY_MS);
    }
  } finally {
    clearTimeout(notice);
  }
}

/**
 * Opens the service for one command. The process with the data directory lock may write to the database, so a command
 * can never change what a running server has in memory.
 * @param userName the OS user, for the audit log
 * @param onWait called once if another process keeps the directory locked for longer than a second
 * @throws DataDirectoryError if another process has locked the directory and does not answer, or UnusableDatabaseError
 */
export async function connectToAdmin(
  config: Config,
  userName: string,
  onWait: () => void = () => {},
): Promise<AdminAccess> {
  const problem = problemOfOwner(config.dataDir);
  if (problem) {
    // The runtime file of a killed server may name the port of any program by now.
    const access = (await isDirectoryLocked(config.dataDir)) && (await throughServer(config, userName));
    if (access) return access;
    throw problem;
  }
  prepareDataDirectory(config.dataDir);
  const found = await serverOrLock(config, userName, onWait);
  return 'client' in found ? found : onDatabase(config, userName, found);
}
