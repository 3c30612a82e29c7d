// How the lines of a chart look, in the chart and in its legend. Each can be told from the others without its color.

export type LineLook = 'main' | 'dashed' | 'plain' | 'quiet';

interface Stroke {
  /** px */
  width: number;
  /** Lengths of dashes and gaps, in px. */
  dash: number[];
}

export const STROKES: Record<LineLook, Stroke> = {
  main: { width: 2, dash: [] },
  dashed: { width: 1.5, dash: [4, 4] },
  plain: { width: 1.5, dash: [2, 2] },
  quiet: { width: 1.5, dash: [10, 3] },
};
