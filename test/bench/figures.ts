// The figures of a run: printed as a table, written as JSON.
import { closeSync, fsyncSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { cpus, loadavg, release, totalmem } from 'node:os';
import { join } from 'node:path';

export interface Figure {
  figure: string;
  target: string;
  measured: string;
  pass: boolean;
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

/** @param folder on the disk that the database is on */
export function describeMachine(folder: string) {
  return {
    cores: cpus().length,
    cpu: cpus()[0]?.model ?? 'unknown',
    memory_mb: Math.round(totalmem() / 2 ** 20),
    system: `${process.platform} ${release()} ${process.arch}`,
    node: process.version,
    syncs_per_second: syncsPerSecond(folder),
    /** Of the last minute, before anything was measured: much above 0, others were using the machine. */
    load_average: Math.round((loadavg()[0] ?? 0) * 10) / 10,
  };
}

export function printFigures(figures: readonly Figure[]): void {
  const table = [
    ['figure', 'target', 'measured', ''],
    ...figures.map(({ figure, target, measured, pass }) => [
      figure,
      target,
      measured,
      pass ? 'pass' : 'MISS',
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

export function writeResults(file: string, results: object): void {
  writeFileSync(file, `${JSON.stringify(results, null, 2)}\n`);
}
