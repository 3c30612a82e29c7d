// Repeated measurements of one value, and what they say about a target.

/** A median with the range of the measurements around it. */
export interface Sample {
  median: number;
  /** The lowest and highest value, without one outlier at each end if there are at least five. */
  low: number;
  high: number;
}

export type Verdict = 'pass' | 'MISS' | 'unclear';

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const upper = sorted[middle] ?? Number.NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? Number.NaN) + upper) / 2;
}

export function sampleOf(values: readonly number[]): Sample {
  const sorted = values.toSorted((a, b) => a - b);
  const kept = sorted.length < 5 ? sorted : sorted.slice(1, -1);
  return { median: median(values), low: kept[0] ?? Number.NaN, high: kept.at(-1) ?? Number.NaN };
}

/** A target inside the range is neither met nor missed: another run may decide otherwise. */
export function atMost({ low, high }: Sample, target: number): Verdict {
  return high <= target ? 'pass' : low > target ? 'MISS' : 'unclear';
}

export function atLeast({ low, high }: Sample, target: number): Verdict {
  return low >= target ? 'pass' : high < target ? 'MISS' : 'unclear';
}

/** `0.57 (0.55–0.60)`, or `0.57` if there is only one value */
export function shown({ median: middle, low, high }: Sample, digits = 2): string {
  const range = low === high ? '' : ` (${low.toFixed(digits)}–${high.toFixed(digits)})`;
  return `${middle.toFixed(digits)}${range}`;
}
