// Saves a table as a CSV file.
import { type CsvCell, csvLine, csvStart } from '#server/wire/csv.ts';
import { language } from './i18n/i18n.ts';
import { saveFile } from './save-file.ts';

export interface CsvTable {
  /** Column names, the same in every language. */
  header: readonly string[];
  rows: readonly (readonly CsvCell[])[];
}

/**
 * How files are written for spreadsheets in the language of the page: a German one expects semicolons. Without a byte
 * order mark, Excel shows wrong umlauts.
 */
export function csvStyle() {
  return { separator: language.value === 'de' ? 'semicolon' : 'comma', bom: 'true' } as const;
}

/** @param name file name without extension. @param header column names, the same in every language */
export function saveCsv(name: string, header: CsvTable['header'], rows: CsvTable['rows']): void {
  const { separator, bom } = csvStyle();
  const lines = [header, ...rows].map((cells) => csvLine(cells, separator));
  saveFile(`${name}.csv`, csvStart({ bom }) + lines.join(''), 'text/csv');
}
