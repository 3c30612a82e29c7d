// Figures of repeated measurements: the median, its range, and what the range says about the target.
import type { Figure } from './figures.ts';
import type { Comparison } from './load.ts';
import type { Writes } from './measure-writes.ts';
import { atLeast, atMost, type Sample, shown, type Verdict } from './sample.ts';

export function judged(
  figure: string,
  target: string,
  measured: string,
  verdict: Verdict,
  details: object,
): Figure {
  return {
    figure,
    target,
    measured,
    pass: verdict === 'pass',
    ...(verdict === 'unclear' ? { isUnclear: true } : {}),
    details,
  };
}

const thousands = ({ median: middle }: Sample) => `${Math.round(middle)}`;

export function throughput(figure: string, least: number, result: Comparison): Figure {
  const { throughputRatio, perSecond, barePerSecond } = result;
  const measured = `${shown(throughputRatio)} x; ${thousands(perSecond)}/s, bare ${thousands(barePerSecond)}/s`;
  return judged(figure, `>= ${least.toFixed(2)} x bare`, measured, atLeast(throughputRatio, least), result);
}

/** @param limit null if there is no target */
export function cpuPerCall(figure: string, limit: number | null, result: Comparison): Figure {
  const { cpuRatio, cpuMicros, bareCpuMicros } = result;
  const measured = `${shown(cpuRatio)} x; ${thousands(cpuMicros)} µs, bare ${thousands(bareCpuMicros)} µs`;
  const name = `${figure}, CPU per call`;
  const target = limit === null ? '–' : `<= ${limit.toFixed(2)} x bare`;
  const verdict = limit === null ? 'pass' : atMost(cpuRatio, limit);
  return { ...judged(name, target, measured, verdict, result), cpuRatio: cpuRatio.median };
}

export function latency(figure: string, limit: number, result: Comparison): Figure {
  const { p99Ratio, p99Ms, bareP99Ms } = result;
  const measured = `${shown(p99Ratio)} x; ${p99Ms.median.toFixed(1)} ms, bare ${bareP99Ms.median.toFixed(1)} ms`;
  return judged(figure, `<= ${limit} x bare`, measured, atMost(p99Ratio, limit), result);
}

/** @param peerCpuMicros CPU per call of the bare server in the same run */
export function writes(
  figure: string,
  { least, mostCpuMs, peerCpuMicros }: { least: number; mostCpuMs: number; peerCpuMicros: number },
  result: Writes,
): Figure[] {
  const { perSecond, cpuMicros, p99Ms } = result;
  const ms = ({ median: middle, low, high }: Sample) =>
    shown({ median: middle / 1000, low: low / 1000, high: high / 1000 });
  return [
    judged(
      `${figure}, each on disk`,
      `>= ${least}/s`,
      `${shown(perSecond, 0)}/s`,
      atLeast(perSecond, least),
      result,
    ),
    {
      ...judged(
        `${figure}, CPU per call`,
        `<= ${mostCpuMs} ms`,
        `${ms(cpuMicros)} ms`,
        atMost(cpuMicros, mostCpuMs * 1000),
        result,
      ),
      cpuRatio: cpuMicros.median / peerCpuMicros,
    },
    judged(`${figure}, p99`, '<= 50 ms', `${shown(p99Ms, 1)} ms`, atMost(p99Ms, 50), result),
  ];
}

/** A value with its unit against an upper limit. */
export function most(
  figure: string,
  [limit, unit]: [limit: number, unit: string],
  sample: Sample,
  details: object,
): Figure {
  const digits = sample.median < 10 ? 2 : sample.median < 100 ? 1 : 0;
  const measured = `${shown(sample, digits)} ${unit}`;
  return judged(figure, `<= ${limit} ${unit}`, measured, atMost(sample, limit), details);
}
