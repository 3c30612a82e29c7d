// Figures of repeated measurements: the median, its range, and what the range says about the target.
import type { Figure } from './figures.ts';
import type { Comparison } from './rounds.ts';
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

/** What runs are compared by. */
export const cpuBesidePeer = ({ cpuRatio, peer }: Comparison) => ({
  cpuRatio: cpuRatio.median,
  peerCpuMicros: peer.cpuMicros.median,
});

const thousands = ({ median: middle }: Sample) => `${Math.round(middle)}`;

export function throughput(figure: string, least: number, result: Comparison): Figure {
  const { throughputRatio, ours, peer } = result;
  const measured = `${shown(throughputRatio)} x; ${thousands(ours.perSecond)}/s, bare ${thousands(peer.perSecond)}/s`;
  return judged(figure, `>= ${least.toFixed(2)} x bare`, measured, atLeast(throughputRatio, least), result);
}

/** @param limit null if there is no target */
export function cpuPerCall(figure: string, limit: number | null, result: Comparison): Figure {
  const { cpuRatio, ours, peer } = result;
  const measured = `${shown(cpuRatio)} x; ${thousands(ours.cpuMicros)} µs, bare ${thousands(peer.cpuMicros)} µs`;
  const name = `${figure}, CPU per call`;
  const target = limit === null ? '–' : `<= ${limit.toFixed(2)} x bare`;
  const verdict = limit === null ? 'pass' : atMost(cpuRatio, limit);
  return { ...judged(name, target, measured, verdict, result), ...cpuBesidePeer(result) };
}

export function latency(figure: string, limit: number, result: Comparison): Figure {
  const { p99Ratio, ours, peer } = result;
  const measured = `${shown(p99Ratio)} x; ${ours.p99Ms.median.toFixed(1)} ms, bare ${peer.p99Ms.median.toFixed(1)} ms`;
  return judged(figure, `<= ${limit} x bare`, measured, atMost(p99Ratio, limit), result);
}

/** Of changes, each on disk before its reply. */
export function writes(
  figure: string,
  { least, mostCpuMs }: { least: number; mostCpuMs: number },
  result: Comparison,
): Figure[] {
  const { ours, peer, throughputRatio, cpuRatio } = result;
  const { perSecond, cpuMicros, p99Ms } = ours;
  const ms = ({ median: middle, low, high }: Sample) =>
    shown({ median: middle / 1000, low: low / 1000, high: high / 1000 });
  return [
    judged(
      `${figure}, each on disk`,
      `>= ${least}/s`,
      `${shown(perSecond, 0)}/s; ${shown(throughputRatio)} x storing Express`,
      atLeast(perSecond, least),
      result,
    ),
    {
      ...judged(
        `${figure}, CPU per call`,
        `<= ${mostCpuMs} ms`,
        `${ms(cpuMicros)} ms; ${shown(cpuRatio)} x storing Express, ${ms(peer.cpuMicros)} ms`,
        atMost(cpuMicros, mostCpuMs * 1000),
        result,
      ),
      ...cpuBesidePeer(result),
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
