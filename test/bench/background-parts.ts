// The parts of the bench that measure work in the background: the license scan and webhooks.
import type { Figure } from './figures.ts';
import { judged, most } from './load-figures.ts';
import { measureScans } from './measure-scan.ts';
import { measureWebhooks } from './measure-webhooks.ts';
import { readBodies } from './read-bodies.ts';
import { note, type Run } from './run.ts';
import { atLeast, sampleOf, shown } from './sample.ts';

const DUE = 1000;
const SCANS = { short: 1, full: 5 };
const DRAINS = { short: 1, full: 5 };

export async function scan(run: Run): Promise<Figure[]> {
  note('license scan');
  const { server, errorFile } = await run.servers.use(run.licenses);
  const { data, isShort } = run;
  const scans = await measureScans(isShort ? SCANS.short : SCANS.full, DUE, {
    api: server.api,
    database: data.database,
    errorFile,
    bodies: readBodies(data.hotTokens),
  });
  const wrong = scans.find(({ emitted }) => emitted !== DUE);
  if (wrong) throw new Error(`a license scan wrote ${wrong.emitted} notices instead of ${DUE}`);
  return [
    most(`license scan, ${DUE} due`, [500, 'ms'], sampleOf(scans.map(({ scanMs }) => scanMs)), scans),
    most(
      'authorize/token/ p99 during the scan',
      [25, 'ms'],
      sampleOf(scans.map(({ p99Ms }) => p99Ms)),
      scans,
    ),
  ];
}

export async function webhooks(run: Run): Promise<Figure[]> {
  note('webhooks');
  const { server, receiver } = await run.servers.use(run.licenses);
  const { dataDir, database, enterpriseKeys: keys, hotTokens } = run.data;
  const details = await measureWebhooks({
    api: server.api,
    dataDir,
    database,
    keys,
    bodies: readBodies(hotTokens),
    receiver,
    server,
    drains: run.isShort ? DRAINS.short : DRAINS.full,
  });
  const { deliveriesPerSecond, cpuMicros, authorizeP95Ms, firstAttemptP50Ms } = details;
  return [
    judged(
      'deliveries, 500 events to 20 endpoints',
      '>= 800/s',
      `${shown(deliveriesPerSecond, 0)}/s; ${shown(cpuMicros, 0)} µs CPU each`,
      atLeast(deliveriesPerSecond, 800),
      details,
    ),
    most('authorize/token/ at 500/s during deliveries, p95', [15, 'ms'], authorizeP95Ms, details),
    most('event to first attempt, p50', [10, 'ms'], firstAttemptP50Ms, details),
    most(
      'event to first attempt with 100,000 retries waiting, p95',
      [100, 'ms'],
      details.besideWaitingP95Ms,
      details,
    ),
  ];
}
