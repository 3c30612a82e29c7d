// What is compared is measured in turn, round after round, or at the same time: the speed of a machine drifts, and each of
// them then has its share of every speed.
import { sharesOneCore } from './one-core.ts';
import { type Sample, sampleOf } from './sample.ts';

export const ROUNDS = 7;
/** A shorter round has too few calls to time. wrk takes up to a tenth of a second longer than it is asked to. */
const LEAST_SECONDS = 0.45;

/** @param seconds of seven rounds together */
export const roundSeconds = (seconds: number) => Math.max(LEAST_SECONDS, seconds / ROUNDS);

/** @param seconds of all rounds together */
export const warmUpSeconds = (seconds: number) => Math.min(5, Math.max(1, Math.round(seconds / 3)));

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

const sample = (rounds: readonly Round[], name: keyof Round) => sampleOf(rounds.map((round) => round[name]));

const summaryOf = (rounds: readonly Round[]): Summary => ({
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
 * @param parts of several processes of the same servers
 * @returns their rounds together; null for what has no peer
 */
export function joined<Name extends string, Found extends Comparison | null>(
  parts: readonly Record<Name, Found>[],
): Record<Name, Found> {
  const names = Object.keys(parts[0] ?? {}) as Name[];
  const together = (name: Name) => {
    const found = parts.flatMap((part) => part[name] ?? []);
    if (found.length === 0) return null;
    return compare(
      found.flatMap(({ ours }) => ours.rounds),
      found.flatMap(({ peer }) => peer.rounds),
    );
  };
  return Object.fromEntries(names.map((name) => [name, together(name)])) as Record<Name, Found>;
}

/** The service and what it is compared with. */
export interface Pair {
  ours: Contender;
  peer: Contender;
}

/** The rounds of each in each pair. */
type Measured = Record<keyof Pair, Round[]>;

/** A contender in several pairs is measured once in each round. */
async function measureInTurn(pairs: readonly Pair[], rounds: number): Promise<Measured[]> {
  const found = new Map(pairs.flatMap(({ ours, peer }) => [peer, ours]).map((one) => [one, [] as Round[]]));
  for (let round = 0; round < rounds; round += 1)
    for (const [contender, measured] of found) measured.push(await contender.measure());
  return pairs.map(({ ours, peer }) => ({ ours: found.get(ours) ?? [], peer: found.get(peer) ?? [] }));
}

/**
 * Both of a pair at the same time: the scheduler lets them take turns every few milliseconds, so that a host whose speed
 * changes within a second is as fast for the one as for the other. That leaves the CPU per call, and says nothing of
 * throughput.
 */
async function measureTogether(pairs: readonly Pair[], rounds: number): Promise<Measured[]> {
  const measured = pairs.map((): Measured => ({ ours: [], peer: [] }));
  for (let round = 0; round < rounds; round += 1)
    for (const [index, { ours, peer }] of pairs.entries()) {
      const [own, other] = await Promise.all([ours.measure(), peer.measure()]);
      measured[index]?.ours.push(own);
      measured[index]?.peer.push(other);
    }
  return measured;
}

interface Order {
  /** On one core, pairs are measured at the same time, unless both sync to the same disk and one waits for the other. */
  inTurn?: boolean;
  /** Fewer, where other processes of the same servers are measured, too. */
  rounds?: number;
}

/** Warms up each contender, and then measures all pairs in each round. */
export async function comparePairs<Name extends string>(
  named: Readonly<Record<Name, Pair>>,
  { inTurn = !sharesOneCore(), rounds = ROUNDS }: Order = {},
): Promise<Record<Name, Comparison>> {
  const pairs = Object.values<Pair>(named);
  for (const one of new Set(pairs.flatMap(({ ours, peer }) => [peer, ours]))) await one.warmUp();
  const measured = await (inTurn ? measureInTurn : measureTogether)(pairs, rounds);
  const compared = measured.map(({ ours, peer }) => compare(ours, peer));
  return Object.fromEntries(Object.keys(named).map((name, index) => [name, compared[index]])) as Record<
    Name,
    Comparison
  >;
}

/** Without a peer. */
export async function measureAlone(contender: Contender): Promise<Summary> {
  await contender.warmUp();
  const rounds: Round[] = [];
  for (let round = 0; round < ROUNDS; round += 1) rounds.push(await contender.measure());
  return summaryOf(rounds);
}

/**
 * With each of the peers.
 * @param peers null where one cannot be installed
 */
export async function besidePeers<Name extends string>(
  ours: Contender,
  peers: Readonly<Record<Name, Contender | null>>,
  order: Order = {},
): Promise<{ ours: Summary; comparisons: Record<Name, Comparison | null> }> {
  const named = Object.entries<Contender | null>(peers);
  const present = named.flatMap(([name, peer]) => (peer ? [[name, { ours, peer }] as const] : []));
  const compared: Record<string, Comparison> = await comparePairs(Object.fromEntries(present), order);
  const [first] = Object.values(compared);
  return {
    ours: first ? first.ours : await measureAlone(ours),
    comparisons: Object.fromEntries(named.map(([name]) => [name, compared[name] ?? null])) as Record<
      Name,
      Comparison | null
    >,
  };
}

/** @param peer null where it cannot be installed */
export async function besidePeer(
  ours: Contender,
  peer: Contender | null,
  order: Order = {},
): Promise<{ ours: Summary; comparison: Comparison | null }> {
  const { ours: own, comparisons } = await besidePeers(ours, { peer }, order);
  return { ours: own, comparison: comparisons.peer };
}
