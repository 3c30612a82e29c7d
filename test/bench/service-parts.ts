// The parts of the bench that measure the service: its start, calls under load, changes.
import { join } from 'node:path';
import { BENCH_DATA } from './bench-data.ts';
import { startChildServer } from './child-server.ts';
import type { Figure } from './figures.ts';
import { compareWithBare } from './load.ts';
import { cpuPerCall, judged, latency, most, throughput, writes } from './load-figures.ts';
import { measureLeases } from './measure-leases.ts';
import { leaseFigures } from './lease-figures.ts';
import { measureWrites } from './measure-writes.ts';
import { begin, note, type Run, serve } from './run.ts';
import { sampleOf, shown } from './sample.ts';

const STARTS = 7;

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

export async function load(run: Run): Promise<Figure[]> {
  const { data, bare, seconds } = run;
  const plain = await startChildServer(
    [join(import.meta.dirname, 'bare-http.ts')],
    join(BENCH_DATA, 'bare-http.log'),
  );
  const server = await serve(run, 'load.log');
  const { api } = server;
  const compare = (path: string, bodies?: string) => {
    note(path);
    const target = { server, url: api + path, ...(bodies === undefined ? {} : { bodies }) };
    return compareWithBare({ server: bare, url: bare.api }, target, seconds * 2);
  };
  note('bare node:http');
  const limit = await compareWithBare(
    { server: bare, url: bare.api },
    { server: plain, url: plain.api, bodies: data.hotTokens },
    seconds,
  );
  await plain.stop();
  const hot = await compare('authorize/token/', data.hotTokens);
  const uniform = await compare('authorize/token/', data.tokens);
  const authorize = await compare('authorize/', data.hotAuthorizations);
  const live = await compare('health/live/');
  const health = await compare('health/');
  note('changes');
  const { dataDir, enterpriseKeys, validKeys } = data;
  const changes = await measureWrites({ server, dataDir, enterpriseKeys, validKeys, seconds: seconds * 2 });
  const residentMb = server.residentMb();
  await server.stop();
  const goal = { least: 1500, mostCpuMs: 0.8, peerCpuMicros: hot.bareCpuMicros.median };
  return [
    judged(
      'bare node:http',
      '–',
      `${shown(limit.throughputRatio)} x; ${Math.round(limit.perSecond.median)}/s, bare Express ${Math.round(limit.barePerSecond.median)}/s`,
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

export async function leases(run: Run): Promise<Figure[]> {
  note('floating licenses');
  const { bare, seconds, data } = run;
  const { dataDir, database } = data;
  const server = await serve(run, 'leases.log');
  const measured = await measureLeases({ server, bare, dataDir, database, seconds });
  await server.stop();
  return leaseFigures(measured);
}
