// A table that the page has, as a file for a spreadsheet.
import { type CsvCell, csvLine } from '#server/wire/csv.ts';
import { saveFile } from './save-file.ts';

/** @param name of the file, without its ending. @param header names that stay the same in every language */
export function saveCsv(
  name: string,
  header: readonly string[],
  rows: readonly (readonly CsvCell[])[],
): void {
  saveFile(`${name}.csv`, [header, ...rows].map(csvLine).join(''), 'text/csv');
}
