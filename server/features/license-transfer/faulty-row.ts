// A faulty row as it is stored, with its errors as JSON, and as it is handed over.
import type { ImportError } from './license-transfer-contract.ts';

/** The errors of a row are in this cell, after its line. */
const ERROR_CELL = 1;

export function faultyRow(line: number, errors: readonly ImportError[], cells: readonly string[]) {
  return [line, JSON.stringify(errors), ...cells];
}

/** With all errors in one text. */
export function withErrorText(cells: readonly string[]): string[] {
  const errors = JSON.parse(cells[ERROR_CELL] ?? '[]') as ImportError[];
  const text = errors.map(({ column, message }) => (column === null ? message : `${column}: ${message}`));
  return cells.with(ERROR_CELL, text.join('; '));
}
