// The parts of the bench that measure the service: calls under load, changes, floating licenses.
import { BENCH_DATA } from './bench-data.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import type { Figure } from './figures.ts';
import { underLoad } from './load.ts';
import { cpuPerCall, judged, latency, most, throughput, writes } from './load-figures.ts';
import { leaseFigures } from './lease-figures.ts';
import { measureLeases } from './measure-leases.ts';
import { licensesToChange, measureWrites, type WriteFigures } from './measure-writes.ts';
import { note, type Run } from './run.ts';
import { comparePairs, ROUNDS } from './rounds.ts';
import { sampleOf, shown } from './sample.ts';

const DENIALS = { short: 7, full: 20 };

/** Calls that are answered from memory or by look-ups, each beside the peer that gets the same bodies. */
export async function compareReads(
  { data, seconds }: Pick<Run, 'data' | 'seconds'>,
  server: ChildServer,
  rounds: number,
) {
  const [bare, plain] = await Promise.all([
    startBenchServer('bare-express.ts', BENCH_DATA),
    startBenchServer('bare-http.ts', BENCH_DATA),
  ]);
  const calls = (of: ChildServer, path: string, bodies?: string, keepsAnswers = false) =>
    underLoad(
      { server: of, url: of.api + path, keepsAnswers, ...(bodies === undefined ? {} : { bodies }) },
      seconds * 2,
    );
  const peer = calls(bare, '', data.hotTokens);
  const peerOfLonger = calls(bare, '', data.hotAuthorizations);
  const peerOfGet = calls(bare, '');
  const compared = await comparePairs(
    {
      limit: { ours: calls(plain, '', data.hotTokens), peer },
      hot: { ours: calls(server, 'authorize/token/', data.hotTokens, true), peer },
      uniform: { ours: calls(server, 'authorize/token/', data.tokens), peer },
      authorize: { ours: calls(server, 'authorize/', data.hotAuthorizations, true), peer: peerOfLonger },
      live: { ours: calls(server, 'health/live/'), peer: peerOfGet },
      health: { ours: calls(server, 'health/'), peer: peerOfGet },
    },
    { rounds },
  );
  await Promise.all([bare.stop(), plain.stop()]);
  return compared;
}

type Reads = Awaited<ReturnType<typeof compareReads>>;

export const readFigures = ({ limit, hot, uniform, authorize, live, health }: Reads): Figure[] => [
  judged(
    'bare node:http',
    '–',
    `${shown(limit.throughputRatio)} x; ${Math.round(limit.ours.perSecond.median)}/s, bare Express ${Math.round(limit.peer.perSecond.median)}/s`,
    'pass',
    limit,
  ),
  cpuPerCall('bare node:http', null, limit),
  throughput('authorize/token/ hot', 1, hot),
  cpuPerCall('authorize/token/ hot', 1, hot),
  throughput('authorize/token/ uniform', 0.8, uniform),
  cpuPerCall('authorize/token/ uniform', 1.3, uniform),
  latency('authorize/token/ uniform, p99', 3, uniform),
  throughput('authorize/ hot', 0.8, authorize),
  cpuPerCall('authorize/ hot', 1.3, authorize),
  cpuPerCall('health/live/', 1, live),
  cpuPerCall('health/', null, health),
];

export function changeFigures(changes: WriteFigures): Figure[] {
  const goal = { least: 1500, mostCpuMs: 0.8 };
  return [
    ...writes('activations', goal, changes.activations),
    ...writes('renewals', goal, changes.renewals),
    ...writes('authorization tokens', goal, changes.tokens),
    ...writes('revocations', goal, changes.revocations),
  ];
}

export async function load(run: Run): Promise<Figure[]> {
  const { seconds } = run;
  note('authorizations');
  const { data, server } = await run.servers.use(run.licenses);
  // First: changes replace some of the tokens.
  const reads = await compareReads(run, server, ROUNDS);
  note('changes');
  const changes = await measureWrites({
    server,
    dataDir: data.dataDir,
    licenses: licensesToChange(data),
    seconds: seconds * 2,
    rounds: ROUNDS,
  });
  const residentMb = server.residentMb();
  return [
    ...readFigures(reads),
    ...changeFigures(changes),
    most('memory after the load', [180, 'MB'], sampleOf([residentMb]), { residentMb }),
  ];
}

export async function leases(run: Run): Promise<Figure[]> {
  note('floating licenses');
  const { bare, seconds, data, isShort } = run;
  const { dataDir, database } = data;
  const { server } = await run.servers.use(run.licenses);
  const denials = isShort ? DENIALS.short : DENIALS.full;
  const measured = await measureLeases({ server, bare, dataDir, database, seconds, denials });
  return leaseFigures(measured);
}
