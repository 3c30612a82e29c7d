// Saves a table as a CSV file.
import { type CsvCell, csvLine } from '#server/wire/csv.ts';
import { saveFile } from './save-file.ts';

export interface CsvTable {
  /** Column names, the same in every language. */
  header: readonly string[];
  rows: readonly (readonly CsvCell[])[];
}

/** @param name file name without extension. @param header column names, the same in every language */
export function saveCsv(name: string, header: CsvTable['header'], rows: CsvTable['rows']): void {
  saveFile(`${name}.csv`, [header, ...rows].map(csvLine).join(''), 'text/csv');
}
