// Changes, each on disk before its reply: new devices, renewals, authorization tokens, revocations.
import { randomBytes } from 'node:crypto';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { createClient as createAdminClient, httpTransport } from '#server/wire/client.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import type { ChildServer } from './child-server.ts';
import { postAllAlong, type Reply } from './keep-alive-client.ts';
import { type Sample, sampleOf } from './sample.ts';
import { quantile } from './steady-calls.ts';

export const CONNECTIONS = 32;
const ROUNDS = 7;
export const LEAST_SECONDS = 0.5;

export interface Writes {
  perSecond: Sample;
  p99Ms: Sample;
  /** Processor time of the server per call, in microseconds. */
  cpuMicros: Sample;
}

export interface WriteFigures {
  activations: Writes;
  renewals: Writes;
  tokens: Writes;
  revocations: Writes;
}

/** A server and how long it is measured. */
interface Measured {
  server: Pick<ChildServer, 'cpuMs'>;
  /** Of each kind of change. */
  seconds: number;
}

interface Surroundings extends Measured {
  server: ChildServer;
  dataDir: string;
  /** Of valid licenses without a device limit. */
  enterpriseKeys: readonly string[];
  /** Of valid licenses, each revoked once. */
  validKeys: readonly string[];
}

/** @param nextBody different for each call */
async function measure(
  measured: Measured,
  url: string,
  nextBody: () => object,
  headers: Record<string, string> = {},
): Promise<Writes> {
  const call = (isOver: () => boolean) => postAllAlong(CONNECTIONS, url, nextBody, isOver, headers);
  return measureCalls(measured, call);
}

type Calls = (isOver: () => boolean) => Promise<Pick<Reply, 'sentAt' | 'endedAt'>[]>;

interface Round {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMicros: number;
}

/** @param call makes calls until `isOver`, each on disk before its reply, and returns when they were sent and answered */
export async function measureRound({ server, seconds }: Measured, call: Calls): Promise<Round> {
  const started = performance.now();
  const cpuBefore = server.cpuMs();
  const replies = await call(() => performance.now() - started > seconds * 1000);
  const latencies = replies.map(({ sentAt, endedAt }) => endedAt - sentAt);
  return {
    perSecond: replies.length / ((performance.now() - started) / 1000),
    p50Ms: quantile(latencies, 0.5),
    p99Ms: quantile(latencies, 0.99),
    cpuMicros: ((server.cpuMs() - cpuBefore) * 1000) / replies.length,
  };
}

/** Seven rounds, after one that is not counted. */
export async function measureCalls({ server, seconds }: Measured, call: Calls): Promise<Writes> {
  const each = Math.max(LEAST_SECONDS, seconds / ROUNDS);
  await measureRound({ server, seconds: 1 }, call);
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1)
    rounds.push(await measureRound({ server, seconds: each }, call));
  return {
    perSecond: sampleOf(rounds.map(({ perSecond }) => perSecond)),
    p99Ms: sampleOf(rounds.map(({ p99Ms }) => p99Ms)),
    cpuMicros: sampleOf(rounds.map(({ cpuMicros }) => cpuMicros)),
  };
}

/** The back office of the server that runs on this data directory. */
export function administrationOf(dataDir: string) {
  const runtime = readRuntimeFile(dataDir);
  if (!runtime) throw new Error('the server left no runtime file');
  const credentials = { authorization: `Bearer ${runtime.secret}`, 'x-license-desk-user': 'bench' };
  const adminApi = runtime.admin + ADMIN_API_ROOT;
  return {
    admin: createAdminClient(adminContract, httpTransport(adminApi, credentials)),
    adminApi,
    credentials,
  };
}

/** Asks for a seat for a device that is not known yet. */
export function newDevice(licenseKey: string): object {
  const digits = randomBytes(32).toString('hex');
  return {
    license_key: licenseKey,
    machine_fingerprint: `sha256:${digits}`,
    machine_name: `bench-${digits.slice(0, 6)}`,
    platform: 'Debian 12 (x64)',
    app_version: '5.2.1',
  };
}

export async function measureWrites(around: Surroundings): Promise<WriteFigures> {
  const { server, dataDir, enterpriseKeys, validKeys } = around;
  const { api } = server;
  const { admin, adminApi, credentials } = administrationOf(dataDir);
  const { api_token: token } = await admin.createApiToken({ name: `bench ${Date.now()}`, role: 'admin' });
  const bearer = { authorization: `Bearer ${token}` };
  let next = 0;
  const nextOf = (keys: readonly string[]) => keys[(next += 1) % keys.length];
  const activations = await measure(around, `${api}activate/`, () =>
    newDevice(nextOf(enterpriseKeys) as string),
  );
  const renew = () => ({ license_key: nextOf(enterpriseKeys), days: 1 });
  const renewals = await measure(around, `${api}renew/`, renew, bearer);
  const issue = () => ({ license: nextOf(validKeys) });
  const tokens = await measure(around, `${adminApi}/tokens/`, issue, credentials);
  next = 0;
  const revoke = () => {
    if (next >= validKeys.length) throw new Error('every license has been revoked; measure for less long');
    return { license_key: nextOf(validKeys) };
  };
  const revocations = await measure(around, `${api}licenses/revoke/`, revoke, bearer);
  return { activations, renewals, tokens, revocations };
}
