// Do several runs agree? CPU per call beside a peer's hardly depends on what else the machine does, so it must.
import { readFileSync } from 'node:fs';
import type { Figure } from './figures.ts';

const AGREEMENT = 0.1;

interface Results {
  measured_at: string;
  others_share: number;
  figures: Figure[];
}

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

/** @returns whether all ratios of CPU per call agree within 10 % */
export function compareRuns(files: readonly string[]): boolean {
  const runs = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Results);
  for (const [index, { measured_at: at, others_share: others }] of runs.entries())
    process.stdout.write(`${index + 1}: ${files[index]}, ${at}, others took ${percent(others)}\n`);
  process.stdout.write('\nCPU per call as a multiple of the peer:\n');
  const names = (runs[0]?.figures ?? []).filter(({ cpuRatio }) => cpuRatio !== undefined);
  const width = Math.max(0, ...names.map(({ figure }) => figure.length));
  const differing: string[] = [];
  for (const { figure } of names) {
    const ratios = runs.map(
      ({ figures }) => figures.find((other) => other.figure === figure)?.cpuRatio ?? Number.NaN,
    );
    const [least, most] = [Math.min(...ratios), Math.max(...ratios)];
    const spread = most / least - 1;
    const agrees = spread <= AGREEMENT;
    if (!agrees) differing.push(figure);
    const values = ratios.map((ratio) => ratio.toFixed(2).padStart(6)).join(' ');
    process.stdout.write(
      `${figure.padEnd(width)}  ${values}  ${percent(spread).padStart(5)}${agrees ? '' : '  DIFFERS'}\n`,
    );
  }
  process.stdout.write(
    `\n${names.length - differing.length} of ${names.length} agree within ${percent(AGREEMENT)}.\n`,
  );
  return differing.length === 0;
}
