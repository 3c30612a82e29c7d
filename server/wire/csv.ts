// CSV as spreadsheets read it (RFC 4180), in which no cell is a formula.

export type CsvCell = string | number | null;

/** What makes a spreadsheet compute a cell, with the apostrophes that may precede it. Some take full-width forms too. */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const GUARDED_FORMULA = /^'+[=+\-@\t\r\n＝＋－＠]/u;
const NEEDS_QUOTES = /[",\r\n]/u;

/**
 * One line, with its CRLF. A text that a spreadsheet would take for a formula (it begins with `=`, `+`, `-`, `@`, the
 * full-width form of one of them, a tab or a line break) gets an apostrophe in front, which shows it as text (OWASP,
 * "CSV Injection").
 */
export function csvLine(cells: readonly CsvCell[]): string {
  return `${cells.map(csvCell).join(',')}\r\n`;
}

function csvCell(cell: CsvCell): string {
  if (cell === null) return '';
  if (typeof cell === 'number') return String(cell);
  const text = FORMULA.test(cell) ? `'${cell}` : cell;
  return NEEDS_QUOTES.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/** The text of a cell as it was before `csvLine` put its apostrophe there. */
export function csvText(cell: string): string {
  return GUARDED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
