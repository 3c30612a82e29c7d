// CSV for spreadsheets (RFC 4180), protected against formula injection.

export type CsvCell = string | number | null;

export const CSV_SEPARATORS = { comma: ',', semicolon: ';' } as const;
export type CsvSeparator = keyof typeof CSV_SEPARATORS;

/** How a file is written. */
export interface CsvStyle {
  separator: CsvSeparator;
  bom?: 'true' | undefined;
}

/** What a spreadsheet evaluates. Some spreadsheets accept full-width forms too. */
const SIGNS = String.raw`=+\-@＝＋－＠`;
/** With any apostrophes before it. */
const FORMULA = new RegExp(`^'*[${SIGNS}\\t\\r\\n]`, 'u');
const GUARDED_FORMULA = new RegExp(`^'+[${SIGNS}\\t\\r\\n]`, 'u');
/**
 * Where a cell begins for a spreadsheet whose list separator is not that of the file: a semicolon or a tab, as in
 * German locales, or a comma. Such a spreadsheet ignores the quotes around a cell that contains one.
 */
const OTHER_SEPARATORS = { comma: String.raw`;\t\r\n`, semicolon: String.raw`,;\t\r\n` };
const INNER_FORMULA = innerPatterns(`(?=["']*[${SIGNS}])`);
const GUARDED_INNER_FORMULA = innerPatterns(`'(?=["']*[${SIGNS}])`);
const NEEDS_QUOTES = { comma: /[",\r\n]/u, semicolon: /[";\r\n]/u };

function innerPatterns(pattern: string): Readonly<Record<CsvSeparator, RegExp>> {
  const after = (separators: string) => new RegExp(`(?<=[${separators}])${pattern}`, 'gu');
  return { comma: after(OTHER_SEPARATORS.comma), semicolon: after(OTHER_SEPARATORS.semicolon) };
}

/** What a file begins with. Without a byte order mark, Excel does not recognize UTF-8. */
export function csvStart({ bom }: Pick<CsvStyle, 'bom'>): string {
  return bom ? '\ufeff' : '';
}

/**
 * One line with its CRLF. A text that a spreadsheet would evaluate (it starts with `=`, `+`, `-`, `@`, the full-width
 * form of one of them, a tab or a line break) gets a leading apostrophe, which makes it plain text (OWASP, "CSV
 * Injection"). So does such a part of a text after another separator, a tab or a line break. Where semicolons separate
 * cells, numbers have a decimal comma.
 */
export function csvLine(cells: readonly CsvCell[], separator: CsvSeparator = 'comma'): string {
  return `${cells.map((cell) => csvCell(cell, separator)).join(CSV_SEPARATORS[separator])}\r\n`;
}

function csvCell(cell: CsvCell, separator: CsvSeparator): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return separator === 'comma' ? String(cell) : String(cell).replace('.', ',');
  const text = `${FORMULA.test(cell) ? "'" : ''}${cell.replaceAll(INNER_FORMULA[separator], "'")}`;
  return NEEDS_QUOTES[separator].test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Removes the apostrophes that `csvLine` has added. */
export function csvText(cell: string, separator: CsvSeparator = 'comma'): string {
  const text = cell.replaceAll(GUARDED_INNER_FORMULA[separator], '');
  return GUARDED_FORMULA.test(text) ? text.slice(1) : text;
}
