// `npm run bench`: the built service beside a bare Express on the same machine, each figure against its target.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { builtCli, root } from '../../scripts/paths.mjs';
import { type BenchData, prepareBenchData } from './bench-data.ts';
import { type ChildServer, startChildServer } from './child-server.ts';
import { describeMachine, type Figure, printFigures, watchOthers, writeResults } from './figures.ts';
import { leaseFigures } from './lease-figures.ts';
import { compareWithBare } from './load.ts';
import { cpuPerCall, judged, latency, throughput, writes } from './load-figures.ts';
import { measureCertificates } from './measure-certificates.ts';
import { measureDesktop } from './measure-desktop.ts';
import { measureLeases } from './measure-leases.ts';
import { measurePage } from './measure-page.ts';
import { measureScan } from './measure-scan.ts';
import { measureWebhooks, startReceiver } from './measure-webhooks.ts';
import { measureWrites } from './measure-writes.ts';
import { median, shown } from './sample.ts';

const STARTS = 5;
const JOBS_BEGUN_MS = 8000;
const DUE = 1000;
const SCAN_SECONDS = 12;
/** Common, rare and absent ones; letters with accents, part of a key, two letters. */
const SEARCHES = ['gmbh', 'nováček', 'robotics 12', 'nobody at all', 'zz', '7Q2'];
const RESULTS = join(root, 'bench-results.json');

const { values: given } = parseArgs({
  options: {
    /** Fewer for a trial run. */
    licenses: { type: 'string', default: '1000000' },
    /** Of each measurement. */
    seconds: { type: 'string', default: '5' },
    /** Another command line to start the server with, such as `cli/main.ts`. */
    cli: { type: 'string', default: builtCli },
    /** One part alone, whose figures are printed and not kept: starts, load, scan, webhooks, certificates, leases, page or desktop. */
    only: { type: 'string' },
  },
});
const seconds = Number(given.seconds);

const note = (message: string) => process.stderr.write(`${message} …\n`);

function begin(data: BenchData, log: string, ...args: string[]): Promise<ChildServer> {
  const shared = ['--data-dir', data.dataDir, '--port', '0', '--admin-port', '0', '--rate-limit', '0'];
  return startChildServer([given.cli, 'serve', ...shared, ...args], join(data.dataDir, log));
}

/** Its jobs leave a new server alone for a while; what is measured is one that has been up for longer. */
async function serve(data: BenchData, log: string, ...args: string[]): Promise<ChildServer> {
  const server = await begin(data, log, ...args);
  await sleep(JOBS_BEGUN_MS);
  return server;
}

async function startUp(data: BenchData): Promise<Figure> {
  note('starting');
  const times: number[] = [];
  for (let start = 0; start < STARTS; start += 1) {
    const server = await begin(data, 'starts.log');
    times.push(Math.round(server.readyAfterMs));
    await server.stop();
  }
  const middle = median(times);
  return {
    figure: 'start until ready',
    target: '<= 1 s',
    measured: `${middle} ms`,
    pass: middle <= 1000,
    details: { ms: times },
  };
}

async function underLoad(data: BenchData, bare: ChildServer): Promise<Figure[]> {
  const plain = await startChildServer(
    [join(import.meta.dirname, 'bare-http.ts')],
    join(data.dataDir, 'bare-http.log'),
  );
  const server = await serve(data, 'load.log');
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
  return [
    judged('bare node:http, CPU per call', '–', `${shown(limit.cpuRatio)} x`, 'pass', limit),
    throughput('authorize/token/ hot', 0.8, hot),
    cpuPerCall('authorize/token/ hot', 1, hot),
    throughput('authorize/token/ uniform', 0.5, uniform),
    cpuPerCall('authorize/token/ uniform', 1.3, uniform),
    latency('authorize/token/ uniform, p99', 3, uniform),
    throughput('authorize/ hot', 0.6, authorize),
    cpuPerCall('authorize/ hot', 1.3, authorize),
    cpuPerCall('health/live/', 1, live),
    cpuPerCall('health/', 3, health),
    ...writes('activations', 1500, 0.8, changes.activations),
    ...writes('renewals', 1500, 0.8, changes.renewals),
    ...writes('authorization tokens', 1500, 0.8, changes.tokens),
    ...writes('revocations', 1500, 0.8, changes.revocations),
    {
      figure: 'memory after the load',
      target: '<= 250 MB',
      measured: `${Math.round(residentMb)} MB`,
      pass: residentMb <= 250,
      details: { residentMb },
    },
  ];
}

function readBodies(file: string): object[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n');
  return lines.map((line) => JSON.parse(line) as object);
}

async function scan(data: BenchData): Promise<Figure[]> {
  note('license scan');
  const log = 'scan.log';
  const server = await serve(data, log, '--scan-seconds', String(SCAN_SECONDS));
  const bodies = readBodies(data.hotTokens);
  const errorFile = join(data.dataDir, log);
  const result = await measureScan(DUE, { api: server.api, database: data.database, errorFile, bodies });
  await server.stop();
  const { scanMs, emitted, p99Ms } = result;
  return [
    {
      figure: `license scan, ${DUE} due`,
      target: '<= 2 s',
      measured: `${scanMs} ms, ${emitted} notices`,
      pass: scanMs <= 2000 && emitted === DUE,
      details: result,
    },
    {
      figure: 'authorize/token/ p99 during the scan',
      target: '<= 50 ms',
      measured: `${p99Ms.toFixed(1)} ms`,
      pass: p99Ms <= 50,
      details: result,
    },
  ];
}

async function webhooks(data: BenchData): Promise<Figure[]> {
  note('webhooks');
  const receiver = await startReceiver();
  const server = await serve(data, 'webhooks.log', ...receiver.flags);
  const bodies = readBodies(data.hotTokens);
  const { dataDir, database, enterpriseKeys: keys } = data;
  const details = await measureWebhooks({ api: server.api, dataDir, database, keys, bodies, receiver });
  await server.stop();
  receiver.close();
  const ms = (value: number) => `${value.toFixed(1)} ms`;
  const { deliveriesPerSecond, authorizeP95Ms, firstAttemptP50Ms, idlePercent, besideWaitingP95Ms } = details;
  const rows: [figure: string, target: string, measured: string, pass: boolean][] = [
    [
      'deliveries, 500 events to 20 endpoints',
      '>= 400/s',
      `${Math.round(deliveriesPerSecond)}/s`,
      deliveriesPerSecond >= 400,
    ],
    [
      'authorize/token/ at 500/s during deliveries, p95',
      '<= 25 ms',
      ms(authorizeP95Ms),
      authorizeP95Ms <= 25,
    ],
    ['event to first attempt, p50', '<= 50 ms', ms(firstAttemptP50Ms), firstAttemptP50Ms <= 50],
    [
      'event to first attempt with 100,000 retries waiting, p95',
      '<= 100 ms',
      ms(besideWaitingP95Ms),
      besideWaitingP95Ms <= 100,
    ],
    ['processor time while idle', '<= 0.5 %', `${idlePercent.toFixed(2)} %`, idlePercent <= 0.5],
  ];
  return rows.map(([figure, target, measured, pass]) => ({ figure, target, measured, pass, details }));
}

async function certificates(data: BenchData, bare: ChildServer): Promise<Figure[]> {
  note('certificates');
  const log = 'certificates.log';
  const server = await serve(data, log);
  const { dataDir, database, enterpriseKeys: keys } = data;
  const errorFile = join(dataDir, log);
  const bodies = readBodies(data.hotTokens);
  const around = { server, bare, dataDir, database, errorFile, keys, bodies, seconds };
  const details = await measureCertificates(around);
  await server.stop();
  const { issuedPerSecond, withKeysPerSecond, authorizeP99Ms, validate, rebuildMs, notModified } = details;
  return [
    {
      figure: 'certificates from signing requests',
      target: '>= 300/s',
      measured: `${Math.round(issuedPerSecond)}/s; openssl signs ${Math.round(details.opensslSignsPerSecond)}/s`,
      pass: issuedPerSecond >= 300,
      details,
    },
    {
      figure: 'certificates with new keys',
      target: '>= 15/s',
      measured: `${withKeysPerSecond.toFixed(1)}/s`,
      pass: withKeysPerSecond >= 15,
      details,
    },
    {
      figure: 'authorize/token/ at 500/s during certificate issue, p99',
      target: '<= 50 ms',
      measured: `${authorizeP99Ms.toFixed(1)} ms`,
      pass: authorizeP99Ms <= 50,
      details,
    },
    throughput('certs/validate/', 0.5, validate),
    {
      figure: 'CRL of 100,000 entries, rebuilt',
      target: '<= 250 ms',
      measured: `${rebuildMs} ms`,
      pass: rebuildMs <= 250,
      details,
    },
    throughput('CRL, 304 replies', 0.6, notModified),
  ];
}

async function leases(data: BenchData, bare: ChildServer): Promise<Figure[]> {
  note('floating licenses');
  const { dataDir, database } = data;
  const server = await serve(data, 'leases.log');
  const measured = await measureLeases({ server, bare, dataDir, database, seconds });
  await server.stop();
  return leaseFigures(measured);
}

async function page(data: BenchData): Promise<Figure[]> {
  note('page');
  const server = await serve(data, 'page.log');
  const bodies = readBodies(data.hotTokens);
  const { api, admin } = server;
  const details = await measurePage({ api, admin, bodies, searches: SEARCHES });
  await server.stop();
  const row = (figure: string, most: number, value: number, unit: string): Figure => ({
    figure,
    target: `<= ${most} ${unit}`,
    measured: `${value < 10 ? value.toFixed(1) : Math.round(value)} ${unit}`,
    pass: value <= most,
    details,
  });
  return [
    row('back office: first screen, compressed', 350, details.bundleKb, 'KB'),
    row('back office: overview', 500, details.overviewMs, 'ms'),
    row('back office: first licenses after navigation', 500, details.firstRowsMs, 'ms'),
    row('back office: slowest search', 300, details.searchMs, 'ms'),
    row('back office: frames while scrolling, p95', 33, details.frameP95Ms, 'ms'),
    row('back office: heap after scrolling', 60, details.heapMb, 'MB'),
    row('authorize/token/ p99 during search and export', 50, details.authorizeP99Ms, 'ms'),
  ];
}

async function desktop(): Promise<Figure[]> {
  note('desktop app');
  const details = await measureDesktop();
  const { loadMs, firstScreenMs } = details;
  return [
    {
      figure: 'desktop app: loaded, before its server starts',
      target: '<= 150 ms',
      measured: `${Math.round(loadMs)} ms`,
      pass: loadMs <= 150,
      details,
    },
    {
      figure: 'desktop app: npm start until the first screen',
      target: '<= 2 s',
      measured: `${(firstScreenMs / 1000).toFixed(2)} s`,
      pass: firstScreenMs <= 2000,
      details,
    },
  ];
}

const missing = await ensureCommands({ wrk: ['wrk'], chromium: ['chromium'] });
if (missing.length > 0)
  throw new Error(`the bench needs ${missing.join(' and ')} (Debian packages of these names)`);
const machine = describeMachine(root);
note('preparing data');
const data = await prepareBenchData(Number(given.licenses));
const shareOfOthers = watchOthers();
const bare = await startChildServer(
  [join(import.meta.dirname, 'bare-express.ts')],
  join(data.dataDir, 'bare.log'),
);
const parts: Record<string, () => Promise<Figure[]>> = {
  starts: async () => [await startUp(data)],
  load: () => underLoad(data, bare),
  scan: () => scan(data),
  webhooks: () => webhooks(data),
  certificates: () => certificates(data, bare),
  leases: () => leases(data, bare),
  page: () => page(data),
  desktop,
};
const figures: Figure[] = [];
for (const [name, measure] of Object.entries(parts)) {
  if (given.only === undefined || given.only === name) figures.push(...(await measure()));
}
await bare.stop();

const others = shareOfOthers();
const { cores, cpu, node, syncs_per_second: syncs } = machine;
process.stdout.write(`${cores} cores (${cpu}), Node ${node}, ${syncs} syncs/s, ${given.licenses} licenses\n`);
process.stdout.write(`Others took ${Math.round(others * 100)} % of the machine meanwhile.\n\n`);
printFigures(figures);
if (given.only === undefined) {
  writeResults(RESULTS, {
    measured_at: new Date().toISOString(),
    licenses: Number(given.licenses),
    machine,
    others_share: others,
    figures,
  });
}
if (figures.some(({ pass }) => !pass)) process.exitCode = 1;
