// The figures of a run: printed as a table, written as JSON.
import { closeSync, fsyncSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, release, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Figure {
  figure: string;
  target: string;
  measured: string;
  pass: boolean;
  /** Set if the measurements lie on both sides of the target. */
  isUnclear?: boolean;
  /** CPU per call as a multiple of a peer's in the same run, which other programs hardly change. */
  cpuRatio?: number;
  /** The peer's CPU per call, in microseconds: how fast the machine was. */
  peerCpuMicros?: number;
  /** Of a figure that is measured with different numbers of licenses. */
  growth?: { licenses: number[]; values: string[]; ratio: string };
  /** The numbers behind it. */
  details: object;
}

/** How often a second the disk confirms a small write: what bounds durable transactions one after the other. */
function syncsPerSecond(folder: string): number {
  const probe = join(folder, 'sync-probe');
  const file = openSync(probe, 'w');
  const started = performance.now();
  let syncs = 0;
  for (; performance.now() - started < 500; syncs += 1) {
    writeSync(file, 'x'.repeat(4096));
    fsyncSync(file);
  }
  closeSync(file);
  rmSync(probe);
  return Math.round(syncs / ((performance.now() - started) / 1000));
}

const TICKS_PER_SECOND = 100;

/** Seconds that all processors have worked since the system started, and this process with all children that ended. */
function workedSeconds(): { all: number; own: number } {
  const all =
    cpus().reduce((sum, { times }) => sum + times.user + times.nice + times.sys + times.irq, 0) / 1000;
  const [, afterName = ''] = readFileSync('/proc/self/stat', 'utf8').split(') ');
  const own = afterName.split(' ').slice(11, 15);
  return { all, own: own.reduce((sum, ticks) => sum + Number(ticks), 0) / TICKS_PER_SECOND };
}

/** Starts to watch; the returned function says, once every child has ended, what part of the machine others took. */
export function watchOthers(): () => number {
  const before = workedSeconds();
  const started = performance.now();
  return () => {
    const after = workedSeconds();
    const others = after.all - before.all - (after.own - before.own);
    const available = ((performance.now() - started) / 1000) * cpus().length;
    return Math.max(0, Math.round((others / available) * 100) / 100);
  };
}

/** @param folder on the disk that the database is on */
export function describeMachine(folder: string) {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_mb: Math.round(totalmem() / 2 ** 20),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    syncs_per_second: syncsPerSecond(folder),
  };
}

export function printFigures(figures: readonly Figure[]): void {
  const table = [
    ['figure', 'target', 'measured', ''],
    ...figures.map(({ figure, target, measured, pass, isUnclear }) => [
      figure,
      target,
      measured,
      isUnclear ? 'unclear' : pass ? 'pass' : 'MISS',
    ]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...table.map((row) => row[column]?.length ?? 0)));
  for (const row of table) {
    process.stdout.write(
      `${row
        .map((cell, column) => cell.padEnd(widths[column] ?? 0))
        .join('  ')
        .trimEnd()}\n`,
    );
  }
}

/** What a run is written as. */
export interface Results {
  measured_at: string;
  licenses: number;
  is_short: boolean;
  machine: ReturnType<typeof describeMachine>;
  /** The part of the machine that other programs took. */
  others_share: number;
  figures: readonly Figure[];
}

export function writeResults(file: string, results: Results): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
