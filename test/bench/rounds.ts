// What is compared is measured in turn, round after round: the speed of a machine drifts, and over minutes each of them
// then has its share of every speed.
import { type Sample, sampleOf } from './sample.ts';

export const ROUNDS = 7;
/** A shorter round has too few calls to time. */
const LEAST_SECONDS = 0.5;

/** @param seconds of all rounds together */
export const roundSeconds = (seconds: number) => Math.max(LEAST_SECONDS, seconds / ROUNDS);

/** One round of one contender. */
export interface Round {
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** Processor time of the server per call, in microseconds. */
  cpuMicros: number;
}

/** A server and the calls that are made to it. */
export interface Contender {
  warmUp(): Promise<unknown>;
  measure(): Promise<Round>;
}

/** All rounds of one contender. */
export interface Summary {
  perSecond: Sample;
  p99Ms: Sample;
  cpuMicros: Sample;
  rounds: readonly Round[];
}

/** Ratios are taken round by round. */
export interface Comparison {
  ours: Summary;
  peer: Summary;
  throughputRatio: Sample;
  p99Ratio: Sample;
  cpuRatio: Sample;
}

/** Warms up each contender, and then measures all of them in each round. */
export async function inTurn<Name extends string>(
  contenders: Readonly<Record<Name, Contender>>,
): Promise<Record<Name, Round[]>> {
  const named = Object.entries(contenders) as [Name, Contender][];
  const measured = Object.fromEntries(named.map(([name]) => [name, []])) as unknown as Record<Name, Round[]>;
  for (const [, contender] of named) await contender.warmUp();
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, contender] of named) measured[name].push(await contender.measure());
  return measured;
}

const sample = (rounds: readonly Round[], name: keyof Round) => sampleOf(rounds.map((round) => round[name]));

export const summaryOf = (rounds: readonly Round[]): Summary => ({
  perSecond: sample(rounds, 'perSecond'),
  p99Ms: sample(rounds, 'p99Ms'),
  cpuMicros: sample(rounds, 'cpuMicros'),
  rounds,
});

/** @param values of the same rounds as `peers` */
export const ratioOf = (values: readonly number[], peers: readonly number[]): Sample =>
  sampleOf(values.map((value, index) => value / (peers[index] ?? Number.NaN)));

export function compare(ours: readonly Round[], peer: readonly Round[]): Comparison {
  const ratio = (name: keyof Round) =>
    ratioOf(
      ours.map((round) => round[name]),
      peer.map((round) => round[name]),
    );
  return {
    ours: summaryOf(ours),
    peer: summaryOf(peer),
    throughputRatio: ratio('perSecond'),
    p99Ratio: ratio('p99Ms'),
    cpuRatio: ratio('cpuMicros'),
  };
}

/** @param peer null where it cannot be installed */
export async function besidePeer(
  ours: Contender,
  peer: Contender | null,
): Promise<{ ours: Summary; comparison: Comparison | null }> {
  if (!peer) return { ours: summaryOf((await inTurn({ ours })).ours), comparison: null };
  const rounds = await inTurn({ peer, ours });
  const comparison = compare(rounds.ours, rounds.peer);
  return { ours: comparison.ours, comparison };
}
