// Counts per day beside those of the period before, as a table and as CSV.
import type { CsvTable } from '../csv-file.ts';
import type { DayCount } from '../utc-days.ts';

/** @param previous as many days, or none */
export function dayRows(days: readonly DayCount[], previous: readonly DayCount[]) {
  return days.map(({ day, count }, index) => ({ at: day, values: [count, previous[index]?.count ?? 0] }));
}

export function dayCsv(measure: string, days: readonly DayCount[], previous: readonly DayCount[]): CsvTable {
  return {
    header: ['day', measure, 'previous_day', `previous_${measure}`],
    rows: days.map(({ day, count }, index) => [
      day,
      count,
      previous[index]?.day ?? '',
      previous[index]?.count ?? '',
    ]),
  };
}

export const dayFileName = (measure: string, days: readonly DayCount[]) =>
  `${measure}-${days[0]?.day}-${days.at(-1)?.day}`;
