// What every lane of `npm run test:long` shares: its options, its progress, and the rows that it reports.
import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { reap } from '../helpers/server-process.ts';

/** One line of the table at the end. */
export interface Row {
  check: string;
  rounds: number;
  checked: string;
  /** None: the check passed. */
  failures: string[];
  figures: string;
  /** Why the check could not run here. */
  skipped?: string;
}

export interface Lane {
  seed: number;
  /** Rounds or requests to run. */
  count: number;
  /** The first round, to repeat a part of a run. */
  from: number;
  isOutOfTime(): boolean;
  report(row: Row): void;
  /** Prints progress. */
  note(message: string): void;
}

/** More would hide the first one, which usually explains the others. */
const FAILURES_SHOWN = 10;

function readOptions(defaults: { count: number; minutes: number }) {
  const { values } = parseArgs({
    options: {
      seed: { type: 'string', default: '1' },
      count: { type: 'string', default: String(defaults.count) },
      from: { type: 'string', default: '0' },
      minutes: { type: 'string', default: String(defaults.minutes) },
      /** Where the rows go, as JSON. */
      report: { type: 'string' },
    },
  });
  const { report, ...numbers } = values;
  for (const [name, value] of Object.entries(numbers)) {
    if (!/^\d+(?:\.\d+)?$/u.test(value)) throw new Error(`--${name} must be a number (got ${value})`);
  }
  return {
    report,
    seed: Number(values.seed),
    count: Number(values.count),
    from: Number(values.from),
    minutes: Number(values.minutes),
  };
}

/** Runs a lane as a program. Its servers and files are removed, however it ends. */
export async function runLane(
  name: string,
  defaults: { count: number; minutes: number },
  work: (lane: Lane) => Promise<void>,
): Promise<void> {
  const { report, minutes, ...options } = readOptions(defaults);
  const deadline = performance.now() + minutes * 60_000;
  const started = performance.now();
  const rows: Row[] = [];
  const note = (message: string) => {
    const seconds = Math.round((performance.now() - started) / 1000);
    process.stderr.write(`${name} ${seconds} s: ${message}\n`);
  };
  const add = (row: Row) => {
    rows.push(row);
    for (const failure of row.failures.slice(0, FAILURES_SHOWN)) note(`FAILED ${row.check}: ${failure}`);
  };
  try {
    await work({ ...options, isOutOfTime: () => performance.now() > deadline, report: add, note });
  } catch (error) {
    const failures = [(error as Error).stack ?? String(error)];
    add({ check: name, rounds: 0, checked: 'runs to its end', failures, figures: '' });
  }
  await reap();
  if (report === undefined) process.stdout.write(`${JSON.stringify(rows, null, 1)}\n`);
  else writeFileSync(report, JSON.stringify(rows));
  process.exitCode = rows.some(({ failures }) => failures.length > 0) ? 1 : 0;
}
