// `npm run bench`: the built service beside bare Express and other peers on the same machine, each figure against its target.
import { mkdirSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { ensureCommands } from '../../scripts/debian-packages.mjs';
import { builtCli, root } from '../../scripts/paths.mjs';
import { certificates } from './certificate-parts.ts';
import { BENCH_DATA } from './bench-data.ts';
import { scan, webhooks } from './background-parts.ts';
import { startBenchServer } from './child-server.ts';
import { cluster } from './cluster-parts.ts';
import { compareRuns } from './compare-runs.ts';
import { describeMachine, type Figure, printFigures, watchOthers, writeResults } from './figures.ts';
import { growthSizes, measureGrowth } from './measure-growth.ts';
import { measureIdle, prepareIdleData, startIdle } from './measure-idle.ts';
import { starts } from './measure-starts.ts';
import { desktop, page } from './page-parts.ts';
import { note, type Run } from './run.ts';
import { leases, load } from './service-parts.ts';
import { measureOnOneCore, threeRuns } from './one-core-run.ts';
import { prepareServers } from './servers.ts';
import { openUnfinishedRun } from './unfinished-run.ts';

const PARTS: Record<string, (run: Run) => Promise<Figure[]>> = {
  starts,
  // Before the database changes much.
  growth: measureGrowth,
  load,
  scan,
  webhooks,
  certificates,
  leases,
  page,
  desktop,
  cluster,
  idle: measureIdle,
};
/** Only by `--only`: the first needs minutes and PostgreSQL, the second is measured beside all other parts. */
const ON_REQUEST = ['cluster', 'idle'];
/** Those that measure the same servers. */
const SHARING_PARTS = ['growth', 'load', 'scan', 'webhooks', 'certificates', 'leases', 'page'];
/** Short rounds are as short as they can be. */
const SECONDS = { short: 1.75, oneCore: 4, full: 15 };

const { values: given, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    /** Fewer for a trial run. */
    licenses: { type: 'string', default: '1000000' },
    /** Less time for each measurement, and fewer repetitions. */
    short: { type: 'boolean', default: false },
    /** Of each measurement. */
    seconds: { type: 'string' },
    /** Another command line to start the server with, such as `cli/main.ts`. */
    cli: { type: 'string', default: builtCli },
    /** CPU per call alone, with servers and load on one core: the form that runs are compared with. */
    'one-core': { type: 'boolean', default: false },
    /** Three runs on one core in turn, the third beside a program that never pauses, and their comparison. */
    'three-runs': { type: 'boolean', default: false },
    /** One part alone, whose figures are printed and not kept. */
    only: { type: 'string' },
    /** Where the results go. */
    out: { type: 'string' },
    /** Measures again what an interrupted run has measured. */
    fresh: { type: 'boolean', default: false },
    /** Compares the results of several runs, whose files follow. */
    compare: { type: 'boolean', default: false },
  },
});

const licenses = Number(given.licenses);

function isWanted(part: string): boolean {
  if (given.only !== undefined) return given.only === part;
  return !ON_REQUEST.includes(part);
}

async function measureAll(): Promise<boolean> {
  const { short: isShort, cli } = given;
  const seconds = Number(given.seconds ?? SECONDS[isShort ? 'short' : 'full']);
  const machine = describeMachine(root);
  const unfinished = openUnfinishedRun<Figure[]>({ licenses, isShort, seconds, cli }, given.fresh);
  note('preparing data');
  const isComplete = given.only === undefined;
  const sizes = isComplete ? growthSizes(licenses) : [];
  const [idleData, { data, servers }] = await Promise.all([
    isComplete ? prepareIdleData(licenses) : null,
    prepareServers({ cli, licenses, others: sizes }),
  ]);
  const shareOfOthers = watchOthers();
  mkdirSync(BENCH_DATA, { recursive: true });
  const bare = await startBenchServer('bare-express.ts', BENCH_DATA);
  const run: Run = { cli, licenses, data, bare, servers, idle: null, isShort, seconds };
  const figures: Figure[] = [];
  for (const [name, part] of Object.entries(PARTS)) {
    if (!isWanted(name)) continue;
    const known = isComplete ? unfinished.parts[name] : undefined;
    if (known) note(`${name}: already measured by a run that was interrupted (--fresh measures again)`);
    if (!SHARING_PARTS.includes(name)) await servers.stop();
    else if (idleData && !run.idle) {
      // Together, they take no longer than one of them until what they do after a start is done.
      const starting = known ? [] : sizes.map(servers.use);
      [run.idle] = await Promise.all([startIdle(cli, idleData), ...starting]);
    }
    const measured = known ?? (await part(run));
    if (name === 'growth') run.idle?.leave();
    if (isComplete) unfinished.keep(name, measured);
    figures.push(...measured);
  }
  await servers.stop();
  await bare.stop();
  if (run.idle) figures.push(await run.idle.finish(1));

  const others = shareOfOthers();
  const { cores, cpu, node, syncs_per_second: syncs } = machine;
  process.stdout.write(`${cores} cores (${cpu}), Node ${node}, ${syncs} syncs/s, ${licenses} licenses\n`);
  process.stdout.write(`Others took ${Math.round(others * 100)} % of the machine meanwhile.\n\n`);
  printFigures(figures);
  if (given.only === undefined) {
    const file = given.out ?? (isShort ? join('out', 'bench-short.json') : 'bench-results.json');
    writeResults(resolve(root, file), {
      measured_at: new Date().toISOString(),
      licenses,
      is_short: isShort,
      machine,
      others_share: others,
      figures,
    });
    process.stdout.write(`\nWritten to ${file}.\n`);
    unfinished.finish();
  }
  return figures.every(({ pass }) => pass);
}

function measureOneCore(): Promise<boolean> {
  const file = given.out ?? join('out', 'bench-one-core.json');
  const runs = given['three-runs'] ? threeRuns(file) : [{ file, isBesideBusyProgram: false }];
  const seconds = Number(given.seconds ?? SECONDS.oneCore);
  return measureOnOneCore({ cli: given.cli, licenses, seconds, isFresh: given.fresh, runs });
}

/** @returns whether every target is reached */
async function measure(): Promise<boolean> {
  if (given.only !== undefined && !(given.only in PARTS))
    throw new Error(`--only must be one of ${Object.keys(PARTS).join(', ')} (got ${given.only})`);
  const missing = await ensureCommands({ wrk: ['wrk'], chromium: ['chromium'] });
  if (missing.length > 0)
    throw new Error(`the bench needs ${missing.join(' and ')} (Debian packages of these names)`);
  return given['one-core'] || given['three-runs'] ? measureOneCore() : measureAll();
}

const isReached = given.compare ? compareRuns(positionals) : await measure();
if (!isReached) process.exitCode = 1;
