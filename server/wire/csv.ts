// CSV for spreadsheets (RFC 4180), protected against formula injection.

export type CsvCell = string | number | null;

/**
 * Text that a spreadsheet would evaluate, with any apostrophes before it. Some spreadsheets accept full-width forms
 * too.
 */
const FORMULA = /^'*[=+\-@\t\r\n＝＋－＠]/u;
const GUARDED_FORMULA = /^'+[=+\-@\t\r\n＝＋－＠]/u;
const NEEDS_QUOTES = /[",\r\n]/u;

/**
 * One line with its CRLF. A text that a spreadsheet would evaluate (it starts with `=`, `+`, `-`, `@`, the full-width
 * form of one of them, a tab or a line break) gets a leading apostrophe, which makes it plain text (OWASP, "CSV
 * Injection").
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

/** Removes the apostrophe that `csvLine` has added. */
export function csvText(cell: string): string {
  return GUARDED_FORMULA.test(cell) ? cell.slice(1) : cell;
}
