// The real server in this process: real database, real HTTP on free ports, a new data directory.
import { existsSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { Clock } from '#server/platform/clock.ts';
import { loadConfig } from '#server/platform/config.ts';
import { databaseLocation } from '#server/installation/database-location.ts';
import { startServer } from '#server/process/start-server.ts';
import { type BackOffice, backOfficeOf } from './back-office-of.ts';
import { prepareNewDirectory } from './migrated-database.ts';
import { within } from './within.ts';

export interface Reply {
  status: number;
  headers: Headers;
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into replies freely
  body: any;
}

export interface TestServer extends BackOffice {
  /** `http://127.0.0.1:PORT/license/api/svc`, without the trailing slash. */
  api: string;
  /** The address that the ready line would show, with its one-time code. */
  signInAddress: string;
  dataDir: string;
  /** Any call to the API, with a JSON body if one is given. */
  call(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Reply>;
  post(path: string, body: unknown, headers?: Record<string, string>): Promise<Reply>;
  get(path: string, headers?: Record<string, string>): Promise<Reply>;
  stop(): Promise<void>;
}

interface TestServerOptions {
  clock?: Clock;
  /**
   * Settings by flag name; unless given, ports are free ones, the rate limit is off, webhooks may reach loopback.
   * Undefined leaves a flag out.
   */
  flags?: Record<string, string | undefined>;
  /** Instead of a key file in the data directory. */
  masterKey?: string;
  /** An existing data directory, which is then kept. */
  dataDir?: string;
  newInstallation?: boolean;
  /** How long jobs and the search for damage wait after the start, an hour unless given; retention waits 60 times as long. */
  settleMs?: number;
  /** How long callers wait for a CRL, two minutes unless given. */
  upkeepTimeoutMs?: number;
}

/** No job comes in between by itself, but for a scan that a test gives a shorter interval. */
const SETTLE_MS = 3_600_000;
const UPKEEP_TIMEOUT_MS = 120_000;

const builtWorkers = resolve(import.meta.dirname, '../../out/main/jobs');
/** Jobs run from the build where there is one: a worker loads it in two thirds of the time that the sources take. */
const workers = existsSync(builtWorkers)
  ? { workerFile: (name: string) => join(builtWorkers, `${name}-worker.js`) }
  : {};

export async function newDataDir(): Promise<string> {
  return mkdtemp(join(tmpdir(), 'license-desk-test-'));
}

export async function startTestServer(options: TestServerOptions = {}): Promise<TestServer> {
  const dataDir = options.dataDir ?? (await newDataDir());
  const flags = {
    'data-dir': dataDir,
    port: '0',
    'admin-port': '0',
    'rate-limit': '0',
    'webhook-allow': '127.0.0.0/8',
    ...options.flags,
  };
  const env = options.masterKey === undefined ? {} : { LICENSE_DESK_MASTER_KEY: options.masterKey };
  const config = loadConfig({ flags, env });
  if (databaseLocation(config).url === null) await prepareNewDirectory(dataDir);
  const starting = startServer(config, {
    ...workers,
    ...(options.clock ? { clock: options.clock } : {}),
    logToStderr: false,
    settleMs: options.settleMs ?? SETTLE_MS,
    upkeepTimeoutMs: options.upkeepTimeoutMs ?? UPKEEP_TIMEOUT_MS,
    newInstallation: options.newInstallation ?? false,
  });
  const server = await within(`start of a server on ${dataDir}`, starting);
  const api = server.api.replace(/\/$/u, '');

  async function call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}) {
    const response = await fetch(api + path, {
      method,
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      body: text === '' ? null : (JSON.parse(text) as unknown),
    };
  }

  return {
    api,
    ...backOfficeOf(dataDir),
    signInAddress: await server.newSignInAddress(),
    dataDir,
    call,
    post: (path, body, headers) => call('POST', path, body, headers),
    get: (path, headers) => call('GET', path, undefined, headers),
    async stop() {
      await within(`stop of the server on ${dataDir}`, server.stop());
      if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true });
    },
  };
}

/** A fingerprint that is the same for the same number. */
export function fingerprintOf(number: number): string {
  return `sha256:${number.toString(16).padStart(64, '0')}`;
}
