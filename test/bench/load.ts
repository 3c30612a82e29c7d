// Drives load with wrk.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChildServer } from './child-server.ts';
import { type Comparison, compare, type Contender, inTurn, type Round, ROUNDS } from './rounds.ts';

interface LoadResult extends Round {
  requests: number;
}

/** Where to send what. */
export interface Target {
  server: Pick<ChildServer, 'cpuMs'>;
  url: string;
  /** A file with a JSON body a line, for POST; without it, GET. */
  bodies?: string;
  headers?: Record<string, string>;
  /** The server answers repeated calls from memory. */
  keepsAnswers?: boolean;
}

const CONNECTIONS = 32;
const SCRIPT = join(import.meta.dirname, 'requests.lua');

/** @param seconds a whole number */
export async function load(target: Target, seconds: number): Promise<LoadResult> {
  const { server, url, bodies, headers = {} } = target;
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', SCRIPT, ...given, url];
  if (bodies !== undefined) args.push('--', bodies);
  const before = server.cpuMs();
  const { stdout } = await promisify(execFile)('wrk', args, { timeout: (seconds + 30) * 1000 });
  const cpuMs = server.cpuMs() - before;
  const result = JSON.parse(/^RESULT (.*)$/mu.exec(stdout)?.[1] ?? 'null') as {
    requests: number;
    micros: number;
    p50_micros: number;
    p99_micros: number;
    failed: number;
  } | null;
  if (!result || result.failed > 0) throw new Error(`requests to ${url} failed:\n${stdout}`);
  return {
    requests: result.requests,
    perSecond: result.requests / (result.micros / 1e6),
    p50Ms: result.p50_micros / 1000,
    p99Ms: result.p99_micros / 1000,
    cpuMicros: (cpuMs * 1000) / result.requests,
  };
}

export const warmUpSeconds = (seconds: number) => Math.min(5, Math.max(2, Math.round(seconds / 3)));

/** Answers are kept from the second call with the same body, of 10,000 at most: calls warm a server up rather than time. */
const WARM_UP_CALLS = 100_000;
/** Enough for so many calls that are answered from memory. */
const MOST_WARM_UPS = 3;

async function warmUp(target: Target, seconds: number): Promise<void> {
  let calls = 0;
  const isWarm = () => !target.keepsAnswers || calls >= WARM_UP_CALLS;
  for (let turn = 0; turn === 0 || (turn < MOST_WARM_UPS && !isWarm()); turn += 1)
    calls += (await load(target, warmUpSeconds(seconds))).requests;
}

/** @param seconds of all rounds together */
export const underLoad = (target: Target, seconds: number): Contender => ({
  warmUp: () => warmUp(target, seconds),
  measure: () => load(target, Math.max(1, Math.round(seconds / ROUNDS))),
});

/** Both get the same bodies. @param bare where the bare server answers the same @param seconds of all rounds together */
export async function compareWithBare(
  bare: Pick<Target, 'server' | 'url'>,
  target: Target,
  seconds: number,
): Promise<Comparison> {
  const { ours, peer } = await inTurn({
    peer: underLoad({ ...target, ...bare, keepsAnswers: false }, seconds),
    ours: underLoad(target, seconds),
  });
  return compare(ours, peer);
}
