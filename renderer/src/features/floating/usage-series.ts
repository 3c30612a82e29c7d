import type { PlotLine } from '../../components/line-chart.ts';

/** One line of a usage chart. */
export interface UsageSeries extends PlotLine {
  /** The column header in the CSV file. */
  name: string;
  label: string;
}
