// Drives load with wrk, always against a bare Express in turn, because the speed of a machine drifts.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';

interface LoadResult {
  perSecond: number;
  p99Ms: number;
}

/** Where to send what. */
export interface Target {
  url: string;
  /** A file with a JSON body a line, for POST; without it, GET. */
  bodies?: string;
  headers?: Record<string, string>;
}

export interface Comparison {
  perSecond: number;
  barePerSecond: number;
  p99Ms: number;
  bareP99Ms: number;
  /** Medians of what each measurement makes of the two bare ones beside it. */
  throughputRatio: number;
  p99Ratio: number;
  /** Every measurement in its order. */
  rounds: { ours: LoadResult[]; bare: LoadResult[] };
}

const CONNECTIONS = 32;
const ROUNDS = 3;
const WARM_UP_SECONDS = 1;
const FIRST_WARM_UP_SECONDS = 3;
const SCRIPT = join(import.meta.dirname, 'requests.lua');

async function wrk(target: Target, seconds: number): Promise<LoadResult> {
  const { url, bodies, headers = {} } = target;
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${CONNECTIONS}`, `-d${seconds}s`, '-s', SCRIPT, ...given, url];
  if (bodies !== undefined) args.push('--', bodies);
  const { stdout } = await promisify(execFile)('wrk', args, { timeout: (seconds + 30) * 1000 });
  const result = JSON.parse(/^RESULT (.*)$/mu.exec(stdout)?.[1] ?? 'null') as {
    requests: number;
    micros: number;
    p99_micros: number;
    failed: number;
  } | null;
  if (!result || result.failed > 0) throw new Error(`requests to ${url} failed:\n${stdout}`);
  return { perSecond: result.requests / (result.micros / 1e6), p99Ms: result.p99_micros / 1000 };
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

/** Bare, service, bare, service, …, bare; both get the same bodies. @param bareUrl where bare Express answers the same */
export async function compareWithBare(bareUrl: string, target: Target, seconds: number): Promise<Comparison> {
  const bareTarget = { ...target, url: bareUrl };
  const measure = async (which: Target): Promise<LoadResult> => {
    await wrk(which, WARM_UP_SECONDS);
    return wrk(which, seconds);
  };
  await wrk(target, FIRST_WARM_UP_SECONDS);
  const bare = [await measure(bareTarget)];
  const ours: LoadResult[] = [];
  for (let round = 0; round < ROUNDS; round += 1) {
    ours.push(await measure(target));
    bare.push(await measure(bareTarget));
  }
  const ratios = (value: (result: LoadResult) => number) =>
    ours.map((result, index) => {
      const [before, after] = bare.slice(index, index + 2).map((beside) => value(beside));
      return value(result) / (((before ?? Number.NaN) + (after ?? Number.NaN)) / 2);
    });
  const perSecond = (result: LoadResult) => result.perSecond;
  const p99 = (result: LoadResult) => result.p99Ms;
  return {
    perSecond: median(ours.map(perSecond)),
    barePerSecond: median(bare.map(perSecond)),
    p99Ms: median(ours.map(p99)),
    bareP99Ms: median(bare.map(p99)),
    throughputRatio: median(ratios(perSecond)),
    p99Ratio: median(ratios(p99)),
    rounds: { ours, bare },
  };
}
