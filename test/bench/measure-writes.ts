// Changes, each on disk before its reply: new devices, renewals, authorization tokens, revocations.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ADMIN_API_ROOT, adminContract } from '#server/contract.ts';
import { createClient as createAdminClient, httpTransport } from '#server/wire/client.ts';
import { readRuntimeFile } from '#server/installation/runtime-file.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import { postAllAlong, type Reply } from './keep-alive-client.ts';
import { type Comparison, comparePairs, type Contender, type Round, roundSeconds } from './rounds.ts';
import { quantile } from './steady-calls.ts';

export const CONNECTIONS = 32;
const WARM_UP_SECONDS = 2;
/** Of the licenses; the others are revoked. */
const SHARE_FOR_TOKENS = 0.2;

/** Each beside Express that inserts a row a call, synced as well. */
export interface WriteFigures {
  activations: Comparison;
  renewals: Comparison;
  tokens: Comparison;
  revocations: Comparison;
}

/** A server and how long it is measured. */
interface Measured {
  server: Pick<ChildServer, 'cpuMs'>;
  /** Of all rounds together. */
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

export type Calls = (isOver: () => boolean) => Promise<Pick<Reply, 'sentAt' | 'endedAt'>[]>;

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

/** @param call makes calls until `isOver` */
export const callers = ({ server, seconds }: Measured, call: Calls): Contender => ({
  warmUp: () => measureRound({ server, seconds: WARM_UP_SECONDS }, call),
  measure: () => measureRound({ server, seconds: roundSeconds(seconds) }, call),
});

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

/** @returns the next one at each call, from the first again after the last */
function inCircle<Item>(items: readonly Item[]): () => Item {
  let next = 0;
  return () => items[next++ % items.length] as Item;
}

export async function measureWrites(around: Surroundings): Promise<WriteFigures> {
  const { server, seconds, dataDir, enterpriseKeys, validKeys } = around;
  const { api } = server;
  const { admin, adminApi, credentials } = administrationOf(dataDir);
  const { api_token: token } = await admin.createApiToken({ name: `bench ${Date.now()}`, role: 'admin' });
  const bearer = { authorization: `Bearer ${token}` };
  const forTokens = Math.floor(validKeys.length * SHARE_FOR_TOKENS);
  const [key, keyWithToken] = [inCircle(enterpriseKeys), inCircle(validKeys.slice(0, forTokens))];
  const revocable = validKeys.slice(forTokens).values();
  const storing = await startBenchServer('storing-express.ts', dataDir, join(dataDir, 'storing-express.db'));
  const peer = callers({ server: storing, seconds }, (isOver) =>
    postAllAlong(CONNECTIONS, storing.api, () => newDevice(key()), isOver),
  );
  const post = (url: string, nextBody: () => object, headers: Record<string, string> = {}) => ({
    ours: callers({ server, seconds }, (isOver) => postAllAlong(CONNECTIONS, url, nextBody, isOver, headers)),
    peer,
  });
  const nextRevocation = () => {
    const { value, done } = revocable.next();
    if (done) throw new Error('every license has been revoked; measure for less long');
    return { license_key: value };
  };
  const pairs = {
    activations: post(`${api}activate/`, () => newDevice(key())),
    renewals: post(`${api}renew/`, () => ({ license_key: key(), days: 1 }), bearer),
    tokens: post(`${adminApi}/tokens/`, () => ({ license: keyWithToken() }), credentials),
    revocations: post(`${api}licenses/revoke/`, nextRevocation, bearer),
  };
  const figures = await comparePairs(pairs, { inTurn: true });
  await storing.stop();
  return figures;
}
