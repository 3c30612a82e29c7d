// The part of the bench that measures servers on PostgreSQL beside one server on SQLite with the same data.
import type { Figure } from './figures.ts';
import { judged, most } from './load-figures.ts';
import { type ClusterMeasures, measureCluster, type Side } from './measure-cluster.ts';
import { ratioOf } from './rounds.ts';
import { note, type Run } from './run.ts';
import { atLeast, atMost, sampleOf, shown } from './sample.ts';

/** CPU per call of several servers may be this much above that of one. */
const MOST_GROWTH = 1.1;
const LEAST_ACTIVATIONS = 500;
/** Of the time that SQLite takes. */
const MOST_OF_SQLITE = 1.5;
const MOVE_SECONDS = 60;

const middle = (values: readonly number[]) => sampleOf(values).median;
const servers = (count: number) => (count === 1 ? '1 server' : `${count} servers`);

type Calls = 'tokens' | 'activations';

/** Throughput and CPU per call of one, two and three servers. */
function loadFigures(calls: Calls, name: string, { sqlite, postgres }: ClusterMeasures): Figure[] {
  const [one] = postgres;
  const details = { sqlite: sqlite[calls], postgres: postgres.map((side) => side[calls]) };
  const total = (side: Side) => side[calls].map(({ cpuMicros }) => cpuMicros);
  return postgres.flatMap((side, index) => {
    const rounds = side[calls];
    const count = index + 1;
    const perSecond = sampleOf(rounds.map((round) => round.perSecond));
    const isPair = calls === 'activations' && count === 2;
    const beside = index === 0 ? sqlite : (one as Side);
    const ratio = ratioOf(total(side), total(beside));
    const database = middle(rounds.map(({ databaseMicros }) => databaseMicros));
    const least = isPair ? `>= ${LEAST_ACTIVATIONS}/s` : '–';
    const verdict = isPair ? atLeast(perSecond, LEAST_ACTIVATIONS) : 'pass';
    const target = index === 0 ? '–' : `<= ${MOST_GROWTH.toFixed(2)} x 1 server`;
    const micros = `${Math.round(middle(total(side)))} µs, of which PostgreSQL ${Math.round(database)} µs`;
    const peer = index === 0 ? ` of SQLite with ${Math.round(middle(total(sqlite)))} µs` : '';
    return [
      judged(`${name}, ${servers(count)}`, least, `${shown(perSecond, 0)}/s`, verdict, details),
      {
        ...judged(
          `${name}, ${servers(count)}, CPU per call`,
          target,
          `${shown(ratio)} x${peer}; ${micros}`,
          index === 0 ? 'pass' : atMost(ratio, MOST_GROWTH),
          details,
        ),
        cpuRatio: ratio.median,
      },
    ];
  });
}

/** Replies of the back office's API, in turn with those of SQLite. */
function replyFigures({ sqlite, postgres }: ClusterMeasures): Figure[] {
  const [one] = postgres;
  return Object.entries(sqlite.replies).map(([name, theirs]) => {
    const ours = one?.replies[name] ?? [];
    const ratio = ratioOf(ours, theirs);
    const ms = `${middle(ours).toFixed(1)} ms, SQLite ${middle(theirs).toFixed(1)} ms`;
    const target = `<= ${MOST_OF_SQLITE.toFixed(2)} x SQLite`;
    const verdict = atMost(ratio, MOST_OF_SQLITE);
    return judged(`${name} on PostgreSQL`, target, `${shown(ratio)} x; ${ms}`, verdict, { ours, theirs });
  });
}

export async function cluster(run: Run): Promise<Figure[]> {
  note('servers on PostgreSQL');
  const measured = await measureCluster(run);
  const seconds = (MOVE_SECONDS * run.licenses) / 1_000_000;
  return [
    most('move to PostgreSQL', [seconds, 's'], sampleOf([measured.moveSeconds]), {}),
    ...loadFigures('tokens', 'authorize/token/ uniform', measured),
    ...loadFigures('activations', 'activations, each on disk', measured),
    ...replyFigures(measured),
  ];
}
