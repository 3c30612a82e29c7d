// The parts of the bench that measure the service: its start, calls under load, changes.
import { BENCH_DATA } from './bench-data.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import type { Figure } from './figures.ts';
import { underLoad } from './load.ts';
import { cpuPerCall, judged, latency, most, throughput, writes } from './load-figures.ts';
import { leaseCpuFigures, leaseFigures } from './lease-figures.ts';
import { compareLeaseCalls } from './lease-calls.ts';
import { measureLeases } from './measure-leases.ts';
import { licensesToChange, measureWrites } from './measure-writes.ts';
import { sharesOneCore } from './one-core.ts';
import { begin, note, type Run, serve } from './run.ts';
import { type Comparison, comparePairs, joined, roundCount } from './rounds.ts';
import { sampleOf, shown } from './sample.ts';

const STARTS = 7;
const REFUSALS = { short: 7, full: 20 };

export async function starts(run: Run): Promise<Figure[]> {
  note('starting');
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const server = await begin(run, 'starts.log');
    times.push(server.readyAfterMs);
    await server.stop();
  }
  return [most('start until ready', [300, 'ms'], sampleOf(times), { ms: times })];
}

/**
 * Where CPU per call is compared, all rounds are shared among so many processes: of two processes of the same program, one can
 * take a fifth more for the same calls.
 */
const PROCESSES_ON_ONE_CORE = 5;

/** Calls that are answered from memory or by look-ups, each beside the peer that gets the same bodies. */
async function compareReads({ data, seconds }: Run, server: ChildServer, rounds: number) {
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

/** Measures with the server that runs, and where processes are compared, with others after it. */
function inProcesses(run: Run, running: ChildServer) {
  const processes = sharesOneCore() ? PROCESSES_ON_ONE_CORE : 1;
  const rounds = roundCount() / processes;
  let server = running;
  return {
    async measure<Name extends string, Found extends Comparison | null>(
      one: (server: ChildServer, rounds: number) => Promise<Record<Name, Found>>,
    ) {
      const parts = [await one(server, rounds)];
      while (parts.length < processes) {
        await server.stop();
        server = await serve(run, 'load.log');
        parts.push(await one(server, rounds));
      }
      return joined(parts);
    },
    /** @returns what the server holds in memory, in MB */
    async stop(): Promise<number> {
      const residentMb = server.residentMb();
      await server.stop();
      return residentMb;
    },
  };
}

export async function load(run: Run): Promise<Figure[]> {
  const { dataDir } = run.data;
  const licenses = licensesToChange(run.data);
  note('authorizations');
  const processes = inProcesses(run, await serve(run, 'load.log'));
  // First: changes replace some of the tokens.
  const { limit, hot, uniform, authorize, live, health } = await processes.measure((server, rounds) =>
    compareReads(run, server, rounds),
  );
  note('changes');
  const seconds = run.seconds * 2;
  const changes = await processes.measure((server, rounds) =>
    measureWrites({ server, dataDir, licenses, rounds, seconds }),
  );
  const residentMb = await processes.stop();
  const goal = { least: 1500, mostCpuMs: 0.8 };
  return [
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
    ...writes('activations', goal, changes.activations),
    ...writes('renewals', goal, changes.renewals),
    ...writes('authorization tokens', goal, changes.tokens),
    ...writes('revocations', goal, changes.revocations),
    most('memory after the load', [180, 'MB'], sampleOf([residentMb]), { residentMb }),
  ];
}

/** CPU per call of checkouts and heartbeats. */
async function leasesOnOneCore(run: Run): Promise<Figure[]> {
  const { bare, seconds, data } = run;
  const processes = inProcesses(run, await serve(run, 'load.log'));
  const { checkouts, heartbeats } = await processes.measure((server, rounds) =>
    compareLeaseCalls({ server, bare, dataDir: data.dataDir, database: data.database, seconds, rounds }),
  );
  await processes.stop();
  return leaseCpuFigures(checkouts, heartbeats);
}

export async function leases(run: Run): Promise<Figure[]> {
  note('floating licenses');
  if (sharesOneCore()) {
    await run.shared.stop();
    return leasesOnOneCore(run);
  }
  const { bare, seconds, data, isShort } = run;
  const { dataDir, database } = data;
  const { server } = await run.shared.use(run);
  const refusals = isShort ? REFUSALS.short : REFUSALS.full;
  const measured = await measureLeases({ server, bare, dataDir, database, seconds, refusals });
  return leaseFigures(measured);
}
