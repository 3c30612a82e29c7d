/** One line of a usage chart. */
export interface UsageSeries {
  /** The column header in the CSV file. */
  name: string;
  label: string;
  values: readonly number[];
  look: 'main' | 'dashed' | 'plain' | 'quiet';
}
