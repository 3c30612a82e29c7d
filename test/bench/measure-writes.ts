// Changes, each on disk before its reply: new devices, renewals, authorization tokens, revocations.
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import { ADMIN_API_ROOT } from '#server/contract.ts';
import { backOfficeOf } from '../helpers/back-office-of.ts';
import type { BenchData } from './bench-data.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import { postAllAlong, type Reply } from './keep-alive-client.ts';
import {
  type Comparison,
  comparePairs,
  type Contender,
  type Round,
  roundSeconds,
  warmUpSeconds,
} from './rounds.ts';
import { quantile } from './steady-calls.ts';

export const CONNECTIONS = 32;
/** Of the licenses; the others are revoked. */
const SHARE_FOR_TOKENS = 0.2;
/** Fewer would all be revoked in a few seconds. */
const LEAST_LICENSES = 10_000;

/** Each beside Express that inserts a row a call, synced as well. */
export type WriteFigures = Record<'activations' | 'renewals' | 'tokens' | 'revocations', Comparison>;

/** A server and how long it is measured. */
interface Measured {
  server: Pick<ChildServer, 'cpuMs'>;
  /** Of all rounds together. */
  seconds: number;
}

/** Each returns the key of a valid license. */
export interface LicensesToChange {
  /** Of one without a device limit. */
  forDevice: () => string;
  /** Of one whose token may be replaced. */
  forToken: () => string;
  /** Of one that has not been returned before. */
  toRevoke: () => string;
}

interface Setup extends Measured {
  server: ChildServer;
  dataDir: string;
  licenses: LicensesToChange;
  /** Fewer, where other processes of the same servers are measured, too. */
  rounds: number;
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
  warmUp: () => measureRound({ server, seconds: warmUpSeconds(seconds) }, call),
  measure: () => measureRound({ server, seconds: roundSeconds(seconds) }, call),
});

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

/** For all servers that are measured on the same data, one after the other. */
export function licensesToChange({ enterpriseKeys, validKeys }: BenchData): LicensesToChange {
  if (validKeys.length < LEAST_LICENSES)
    throw new Error('too few licenses to change; measure with --licenses 100000 or more');
  const forTokens = Math.floor(validKeys.length * SHARE_FOR_TOKENS);
  const revocable = validKeys.slice(forTokens).values();
  return {
    forDevice: inCircle(enterpriseKeys),
    forToken: inCircle(validKeys.slice(0, forTokens)),
    toRevoke() {
      const { value, done } = revocable.next();
      if (done) throw new Error('every license has been revoked; measure for less long');
      return value;
    },
  };
}

export async function measureWrites(setup: Setup): Promise<WriteFigures> {
  const { server, seconds, dataDir, licenses, rounds } = setup;
  const { forDevice, forToken, toRevoke } = licenses;
  const { api } = server;
  const { admin, adminOrigin, credentials } = backOfficeOf(dataDir);
  const { api_token: token } = await admin.createApiToken({ name: `bench ${Date.now()}`, role: 'admin' });
  const bearer = { authorization: `Bearer ${token}` };
  const storing = await startBenchServer('storing-express.ts', dataDir, join(dataDir, 'storing-express.db'));
  const peer = callers({ server: storing, seconds }, (isOver) =>
    postAllAlong(CONNECTIONS, storing.api, () => newDevice(forDevice()), isOver),
  );
  const post = (url: string, nextBody: () => object, headers: Record<string, string> = {}) => ({
    ours: callers({ server, seconds }, (isOver) => postAllAlong(CONNECTIONS, url, nextBody, isOver, headers)),
    peer,
  });
  const pairs = {
    activations: post(`${api}activate/`, () => newDevice(forDevice())),
    renewals: post(`${api}renew/`, () => ({ license_key: forDevice(), days: 1 }), bearer),
    tokens: post(`${adminOrigin}${ADMIN_API_ROOT}/tokens/`, () => ({ license: forToken() }), credentials),
    revocations: post(`${api}licenses/revoke/`, () => ({ license_key: toRevoke() }), bearer),
  };
  const figures = await comparePairs(pairs, { inTurn: true, rounds });
  await storing.stop();
  return figures;
}
