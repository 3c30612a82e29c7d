// Do several runs agree? CPU per call beside a peer's hardly depends on what other programs do, so it must. It does depend on
// how fast the processor is at the time: a slow phase does not slow down all programs equally.
import { readFileSync } from 'node:fs';
import type { Figure, Results } from './figures.ts';

const AGREEMENT = 0.1;
/** Peers whose CPU per call differs by more were measured at different speeds. */
const SAME_SPEED = 0.25;

const percent = (share: number) => `${(share * 100).toFixed(0)} %`;

/** How much more the largest is than the smallest. */
const spreadOf = (values: readonly number[]) => Math.max(...values) / Math.min(...values) - 1;

interface Row {
  text: string;
  verdict: 'agrees' | 'differs' | 'other speed';
}

/** @param found one figure in each run */
function compareFigure(found: readonly (Figure | undefined)[]): Row {
  const ratios = found.map((figure) => figure?.cpuRatio ?? Number.NaN);
  const speeds = found.map((figure) => figure?.peerCpuMicros ?? Number.NaN);
  const spread = spreadOf(ratios);
  const text = `${ratios.map((ratio) => ratio.toFixed(2).padStart(6)).join(' ')}  ${percent(spread).padStart(5)}`;
  if (spread <= AGREEMENT) return { text, verdict: 'agrees' };
  if (!(spreadOf(speeds) > SAME_SPEED)) return { text: `${text}  DIFFERS`, verdict: 'differs' };
  const micros = speeds.map((speed) => Math.round(speed)).join(', ');
  return { text: `${text}  different speeds: the peer took ${micros} µs`, verdict: 'other speed' };
}

/** @returns whether all ratios of CPU per call agree within 10 % */
export function compareRuns(files: readonly string[]): boolean {
  const runs = files.map((file) => JSON.parse(readFileSync(file, 'utf8')) as Results);
  for (const [index, { measured_at: at, others_share: others }] of runs.entries())
    process.stdout.write(`${index + 1}: ${files[index]}, ${at}, others took ${percent(others)}\n`);
  process.stdout.write('\nCPU per call as a multiple of the peer:\n');
  const names = (runs[0]?.figures ?? []).filter(({ cpuRatio }) => cpuRatio !== undefined);
  const width = Math.max(0, ...names.map(({ figure }) => figure.length));
  const rows = names.map(({ figure }) => ({
    figure,
    ...compareFigure(runs.map(({ figures }) => figures.find((other) => other.figure === figure))),
  }));
  for (const { figure, text } of rows) process.stdout.write(`${figure.padEnd(width)}  ${text}\n`);
  const count = (verdict: Row['verdict']) => rows.filter((row) => row.verdict === verdict).length;
  process.stdout.write(
    `\n${count('agrees')} of ${rows.length} agree within ${percent(AGREEMENT)}; measured at different speeds: ${count('other speed')}.\n`,
  );
  return count('agrees') === rows.length;
}
