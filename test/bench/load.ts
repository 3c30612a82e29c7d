// Drives load with wrk.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import type { ChildServer } from './child-server.ts';
import {
  type Comparison,
  comparePairs,
  type Contender,
  type Round,
  roundSeconds,
  ROUNDS,
  warmUpSeconds,
} from './rounds.ts';

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
/** What the script prints at its start, and when it has sent the bodies as often as it was asked to. */
const BEGIN = 'BEGIN';
const END = 'END';
const SPARE_SECONDS = 10;

/** wrk itself counts whole seconds; interrupted, it reports what it has measured until then. */
async function runWrk(args: readonly string[], seconds: number, onBegin: () => void): Promise<string> {
  const child = spawn('wrk', [`-d${Math.ceil(seconds) + SPARE_SECONDS}s`, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const closed = once(child, 'close');
  let output = '';
  let timer: NodeJS.Timeout | undefined;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
    if (!timer && output.startsWith(BEGIN)) {
      onBegin();
      timer = setTimeout(() => child.kill('SIGINT'), seconds * 1000);
    }
    if (text.includes(END)) child.kill('SIGINT');
  });
  await closed;
  clearTimeout(timer);
  return output;
}

/**
 * @param seconds almost half of one at least: wrk heeds an interruption only once it is set up
 * @param passes sends the bodies in their order, so many times, instead of a random one each time; ends sooner then
 */
export async function load(target: Target, seconds: number, passes?: number): Promise<LoadResult> {
  const { server, url, bodies, headers = {} } = target;
  const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${value}`]);
  const args = ['-t1', `-c${CONNECTIONS}`, '-s', SCRIPT, ...given, url];
  if (bodies !== undefined) args.push('--', bodies, ...(passes === undefined ? [] : [String(passes)]));
  let before = 0;
  const stdout = await runWrk(args, seconds, () => {
    before = server.cpuMs();
  });
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

/** Enough on any machine. */
const MOST_FILL_SECONDS = 60;

/** For a server that answers from memory what it was asked before. @param passes how often it gets each body */
export const fillMemory = (target: Target, passes: number) => load(target, MOST_FILL_SECONDS, passes);

/**
 * Answers are kept from the second call with the same body, of 10,000 at most, and V8 needs thousands of calls that are
 * answered from memory: calls warm a server up rather than time.
 */
const WARM_UP_CALLS = 100_000;
/** Enough for so many calls that are answered from memory. */
const MOST_WARM_UPS = 6;

async function warmUp(target: Target, seconds: number): Promise<void> {
  let calls = 0;
  const isWarm = () => !target.keepsAnswers || calls >= WARM_UP_CALLS;
  for (let turn = 0; turn === 0 || (turn < MOST_WARM_UPS && !isWarm()); turn += 1)
    calls += (await load(target, warmUpSeconds(seconds))).requests;
}

/** @param seconds of all rounds together */
export const underLoad = (target: Target, seconds: number): Contender => ({
  warmUp: () => warmUp(target, seconds),
  measure: () => load(target, roundSeconds(seconds)),
});

/** Both get the same bodies. @param bare where the bare server answers the same @param seconds of all rounds together */
export async function compareWithBare(
  bare: Pick<Target, 'server' | 'url'>,
  target: Target,
  seconds: number,
  rounds = ROUNDS,
): Promise<Comparison> {
  const ours = underLoad(target, seconds);
  const peer = underLoad({ ...target, ...bare }, seconds);
  const { pair } = await comparePairs({ pair: { ours, peer } }, { rounds });
  return pair;
}
