// The form that runs are compared with: CPU per call of the service and its peers, with servers and load on one core. Several
// runs are measured in turn, process by process, so that each has its share of a host that grows slower or faster.
import { mkdirSync } from 'node:fs';
import { resolve } from 'node:path';
import { root } from '../../scripts/paths.mjs';
import { BENCH_DATA, type BenchData, prepareBenchData } from './bench-data.ts';
import { ISSUE_FIGURES, issueCpu, P256_LICENSES } from './certificate-parts.ts';
import { type ChildServer, startBenchServer } from './child-server.ts';
import { compareRuns } from './compare-runs.ts';
import { describeMachine, type Figure, printFigures, watchOthers, writeResults } from './figures.ts';
import { compareLeaseCalls } from './lease-calls.ts';
import { leaseCpuFigures } from './lease-figures.ts';
import { type IssueMeasurements, measureIssue } from './measure-issue.ts';
import { type LicensesToChange, licensesToChange, measureWrites } from './measure-writes.ts';
import { besideBusyProgram, shareOneCore } from './one-core.ts';
import { type Comparison, joined } from './rounds.ts';
import { note, serve } from './run.ts';
import { changeFigures, compareReads, readFigures } from './service-parts.ts';
import { openUnfinishedRun } from './unfinished-run.ts';

/** Of two processes of the same program, one can take a fifth more for the same calls. */
const PROCESSES = 5;
/** Of each process. */
const ROUNDS = 4;

interface Setup {
  cli: string;
  /** Of each measurement. */
  seconds: number;
  data: BenchData;
  licenses: LicensesToChange;
}

interface Part<Name extends string = string, Found extends Comparison | null = Comparison | null> {
  /** @returns the rounds of one process of the service */
  measure(setup: Setup): Promise<Record<Name, Found>>;
  /** @param compared the rounds of all processes */
  figures(compared: Record<Name, Found>): Figure[];
}

/** The service is stopped after it. */
async function withServer<Result>(
  starting: Promise<ChildServer>,
  measure: (server: ChildServer) => Promise<Result>,
): Promise<Result> {
  const server = await starting;
  try {
    return await measure(server);
  } finally {
    await server.stop();
  }
}

const besideCfssl = ({ beside }: IssueMeasurements) => ({ cfssl: beside.cfssl });
const issueFigures = (keyType: keyof typeof ISSUE_FIGURES, cfssl: Comparison | null): Figure[] =>
  cfssl ? [issueCpu(ISSUE_FIGURES[keyType], cfssl)] : [];

/** Forgets what the measurements of a part are called. */
const part = <Name extends string, Found extends Comparison | null>(of: Part<Name, Found>) =>
  of as unknown as Part;

const PARTS: Readonly<Record<string, Part>> = {
  // Before the changes, which replace some of the tokens.
  authorizations: part({
    measure: (setup) => withServer(serve(setup, 'load.log'), (server) => compareReads(setup, server, ROUNDS)),
    figures: readFigures,
  }),
  changes: part({
    measure: (setup) =>
      withServer(serve(setup, 'load.log'), (server) => {
        const { data, licenses, seconds } = setup;
        const { dataDir } = data;
        return measureWrites({ server, dataDir, licenses, seconds: seconds * 2, rounds: ROUNDS });
      }),
    figures: changeFigures,
  }),
  'certificates, RSA-3072 authority': part({
    measure: ({ cli, data, seconds }) =>
      withServer(serve({ cli, data }, 'load.log'), async (server) => {
        const { dataDir, enterpriseKeys: keys } = data;
        return besideCfssl(
          await measureIssue('rsa-3072', { server, dataDir, keys, seconds, rounds: ROUNDS }),
        );
      }),
    figures: ({ cfssl }) => issueFigures('rsa-3072', cfssl),
  }),
  'certificates, P-256 authority': part({
    async measure({ cli, seconds }) {
      const data = await prepareBenchData(P256_LICENSES);
      const { dataDir, enterpriseKeys: keys } = data;
      return withServer(serve({ cli, data }, 'p-256.log'), async (server) =>
        besideCfssl(await measureIssue('p-256', { server, dataDir, keys, seconds, rounds: ROUNDS })),
      );
    },
    figures: ({ cfssl }) => issueFigures('p-256', cfssl),
  }),
  'floating licenses': part({
    measure: (setup) =>
      withServer(serve(setup, 'load.log'), (server) =>
        withServer(startBenchServer('bare-express.ts', BENCH_DATA), (bare) => {
          const { data, seconds } = setup;
          const { dataDir, database } = data;
          return compareLeaseCalls({ server, bare, dataDir, database, seconds, rounds: ROUNDS });
        }),
      ),
    figures: ({ checkouts, heartbeats }) => leaseCpuFigures(checkouts, heartbeats),
  }),
};

interface Measured {
  compared: Record<string, Comparison | null>;
  othersShare: number;
}

async function measurePart({ measure }: Part, setup: Setup): Promise<Measured> {
  const shareOfOthers = watchOthers();
  const compared = await measure(setup);
  return { compared, othersShare: shareOfOthers() };
}

interface OneRun {
  /** Where its results go. */
  file: string;
  isBesideBusyProgram: boolean;
}

interface Form {
  cli: string;
  licenses: number;
  seconds: number;
  isFresh: boolean;
  runs: readonly OneRun[];
}

/** @param file of the first @returns two runs on a quiet machine, and one beside a program that never pauses */
export const threeRuns = (file: string): OneRun[] =>
  [1, 2, 3].map((number) => ({
    file: file.replace(/\.json$/u, number === 1 ? '.json' : `-${number}.json`),
    isBesideBusyProgram: number === 3,
  }));

/** Each of them comes first, second and last equally often. */
function rotated<Item>(items: readonly Item[], by: number): Item[] {
  const first = by % items.length;
  return [...items.slice(first), ...items.slice(0, first)];
}

const nameOf = (partName: string, process: number, run: number) =>
  `${partName}, process ${process + 1}, run ${run + 1}`;

/** @returns what each process of each run has measured, by its name */
async function measureAll({ runs, isFresh, ...form }: Form): Promise<Readonly<Record<string, Measured>>> {
  const { licenses, seconds, cli } = form;
  const unfinished = openUnfinishedRun<Measured>({ ...form, runs }, isFresh);
  note('preparing data');
  mkdirSync(BENCH_DATA, { recursive: true });
  const data = await prepareBenchData(licenses);
  const setup: Setup = { cli, seconds, data, licenses: licensesToChange(data) };
  for (const [partName, one] of Object.entries(PARTS))
    for (let process = 0; process < PROCESSES; process += 1)
      for (const run of rotated(runs, process)) {
        const name = nameOf(partName, process, runs.indexOf(run));
        if (unfinished.parts[name]) continue;
        note(name);
        const measure = () => measurePart(one, setup);
        unfinished.keep(name, await (run.isBesideBusyProgram ? besideBusyProgram(measure) : measure()));
      }
  unfinished.finish();
  return unfinished.parts;
}

/** @param run counted from 0 */
function resultsOf(measured: Readonly<Record<string, Measured>>, run: number) {
  const figures: Figure[] = [];
  const shares: number[] = [];
  for (const [partName, one] of Object.entries(PARTS)) {
    const found = Array.from(
      { length: PROCESSES },
      (_, process) => measured[nameOf(partName, process, run)] as Measured,
    );
    shares.push(...found.map(({ othersShare }) => othersShare));
    figures.push(...one.figures(joined(found.map(({ compared }) => compared))));
  }
  return {
    others_share: shares.reduce((sum, share) => sum + share, 0) / shares.length,
    figures: figures.filter(({ cpuRatio }) => cpuRatio !== undefined),
  };
}

/** @returns whether several runs agree; of a single one, whether its figures reach their targets */
export async function measureOnOneCore(form: Form): Promise<boolean> {
  shareOneCore();
  const machine = describeMachine(root);
  const measured = await measureAll(form);
  const { licenses, runs } = form;
  let isReached = true;
  for (const [run, { file }] of runs.entries()) {
    const results = resultsOf(measured, run);
    printFigures(results.figures);
    writeResults(resolve(root, file), {
      measured_at: new Date().toISOString(),
      licenses,
      is_short: true,
      machine,
      ...results,
    });
    process.stdout.write(`\nWritten to ${file}.\n\n`);
    isReached &&= results.figures.every(({ pass }) => pass);
  }
  return runs.length === 1 ? isReached : compareRuns(runs.map(({ file }) => resolve(root, file)));
}
