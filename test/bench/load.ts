// Drives load with wrk, always against a bare server in turn, because the speed of a machine drifts.
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { ChildServer } from './child-server.ts';
import { type Sample, sampleOf } from './sample.ts';

interface LoadResult {
  requests: number;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server per call, in microseconds. */
  cpuMicros: number;
}

/** Where to send what. */
export interface Target {
  server: Pick<ChildServer, 'cpuMs'>;
  url: string;
  /** A file with a JSON body a line, for POST; without it, GET. */
  bodies?: string;
  headers?: Record<string, string>;
}

export interface Comparison {
  perSecond: Sample;
  barePerSecond: Sample;
  p99Ms: Sample;
  bareP99Ms: Sample;
  cpuMicros: Sample;
  bareCpuMicros: Sample;
  /** What each measurement makes of the two bare ones beside it. */
  throughputRatio: Sample;
  p99Ratio: Sample;
  cpuRatio: Sample;
  /** Every measurement in its order. */
  rounds: { ours: LoadResult[]; bare: LoadResult[] };
}

const CONNECTIONS = 32;
export const ALTERNATIONS = 7;
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

async function warmUp(target: Target, seconds: number): Promise<void> {
  let calls = 0;
  do calls += (await load(target, warmUpSeconds(seconds))).requests;
  while (target.bodies !== undefined && calls < WARM_UP_CALLS);
}

/**
 * Bare, service, bare, service, …, bare; both get the same bodies.
 * @param bare where the bare server answers the same @param seconds of all alternations of one side together
 */
export async function compareWithBare(
  bare: Pick<Target, 'server' | 'url'>,
  target: Target,
  seconds: number,
): Promise<Comparison> {
  const bareTarget = { ...target, ...bare };
  const each = Math.max(1, Math.round(seconds / ALTERNATIONS));
  await warmUp(bareTarget, seconds);
  await warmUp(target, seconds);
  const beside = [await load(bareTarget, each)];
  const ours: LoadResult[] = [];
  for (let round = 0; round < ALTERNATIONS; round += 1) {
    ours.push(await load(target, each));
    beside.push(await load(bareTarget, each));
  }
  const sample = (results: readonly LoadResult[], name: keyof LoadResult) =>
    sampleOf(results.map((result) => result[name]));
  const ratio = (name: keyof LoadResult) =>
    sampleOf(
      ours.map((result, index) => {
        const around = (beside[index]?.[name] ?? Number.NaN) + (beside[index + 1]?.[name] ?? Number.NaN);
        return result[name] / (around / 2);
      }),
    );
  return {
    perSecond: sample(ours, 'perSecond'),
    barePerSecond: sample(beside, 'perSecond'),
    p99Ms: sample(ours, 'p99Ms'),
    bareP99Ms: sample(beside, 'p99Ms'),
    cpuMicros: sample(ours, 'cpuMicros'),
    bareCpuMicros: sample(beside, 'cpuMicros'),
    throughputRatio: ratio('perSecond'),
    p99Ratio: ratio('p99Ms'),
    cpuRatio: ratio('cpuMicros'),
    rounds: { ours, bare: beside },
  };
}
