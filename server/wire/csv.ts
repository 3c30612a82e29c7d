// CSV for spreadsheets (RFC 4180), protected against formula injection.

export type CsvCell = string | number | null;

/** What a spreadsheet evaluates. Some spreadsheets accept full-width forms too. */
const SIGNS = String.raw`=+\-@＝＋－＠`;
/** With any apostrophes before it. */
const FORMULA = new RegExp(`^'*[${SIGNS}\\t\\r\\n]`, 'u');
const GUARDED_FORMULA = new RegExp(`^'+[${SIGNS}\\t\\r\\n]`, 'u');
/**
 * Where a cell begins for a spreadsheet whose list separator is a semicolon or a tab, as in German locales. Such a
 * spreadsheet ignores the quotes around a cell that contains one.
 */
const INNER_START = String.raw`(?<=[;\t\r\n])`;
const INNER_FORMULA = new RegExp(`${INNER_START}(?=["']*[${SIGNS}])`, 'gu');
const GUARDED_INNER_FORMULA = new RegExp(`${INNER_START}'(?=["']*[${SIGNS}])`, 'gu');
const NEEDS_QUOTES = /[",\r\n]/u;

/**
 * One line with its CRLF. A text that a spreadsheet would evaluate (it starts with `=`, `+`, `-`, `@`, the full-width
 * form of one of them, a tab or a line break) gets a leading apostrophe, which makes it plain text (OWASP, "CSV
 * Injection"). So does such a part of a text after a semicolon, a tab or a line break.
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = `${FORMULA.test(cell) ? "'" : ''}${cell.replaceAll(INNER_FORMULA, "'")}`;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** Removes the apostrophes that `csvLine` has added. */
export function csvText(cell: string): string {
  const text = cell.replaceAll(GUARDED_INNER_FORMULA, '');
  return GUARDED_FORMULA.test(text) ? text.slice(1) : text;
}
