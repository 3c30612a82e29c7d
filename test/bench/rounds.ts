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

/**
 * Round after round, with all peers in each.
 * @param peers null where one cannot be installed
 * @returns a comparison with each of the others
 */
export async function besidePeers<Name extends string>(
  ours: Contender,
  peers: Readonly<Record<Name, Contender | null>>,
): Promise<{ ours: Summary; comparisons: Record<Name, Comparison | null> }> {
  const named = Object.entries<Contender | null>(peers);
  const present = named.flatMap(([name, peer]) => (peer ? [[name, peer] as const] : []));
  const { ours: own = [], ...others } = await inTurn<string>({ ...Object.fromEntries(present), ours });
  const comparisons = named.map(([name]) => [name, others[name] ? compare(own, others[name]) : null]);
  return {
    ours: summaryOf(own),
    comparisons: Object.fromEntries(comparisons) as Record<Name, Comparison | null>,
  };
}

/** @param peer null where it cannot be installed */
export async function besidePeer(
  ours: Contender,
  peer: Contender | null,
): Promise<{ ours: Summary; comparison: Comparison | null }> {
  const { ours: own, comparisons } = await besidePeers(ours, { peer });
  return { ours: own, comparison: comparisons.peer };
}
