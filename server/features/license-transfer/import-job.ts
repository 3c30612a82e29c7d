// An uploaded file and the state of its import, in memory. Only the file and the record of a completed import survive a
// restart.
import { setImmediate as nextTurn } from 'node:timers/promises';
import { fixedRule, type BrokenRule } from '#server/wire/field-rules.ts';
import { type TextEncoding, unreadable } from './csv-encoding.ts';
import { type CsvFormat, detectFormat, readCsv } from './csv-reader.ts';
import { unnamedColumn } from './license-csv-contract.ts';
import {
  type ImportError,
  type ImportState,
  type ImportStatus,
  MAX_IMPORT_ROWS,
  MAX_SHOWN_ERRORS,
} from './license-transfer-contract.ts';

const TOO_MANY_ROWS: BrokenRule = {
  message: `it has more than ${MAX_IMPORT_ROWS} rows; split it`,
  reason: 'too_many_rows',
  values: { max: MAX_IMPORT_ROWS },
};
const SAMPLE_ROWS = 5;
const NOT_ASCII = /[^\0-\u007f]/u;
const ROWS_PER_TURN = 200;

/** Structure of a CSV file. */
export interface CsvForm extends CsvFormat {
  columns: string[];
  sample: string[][];
  /** Without the header. */
  rows: number;
}

export interface Findings {
  /** The first errors. */
  errors: ImportError[];
  /** Total number of errors. */
  errorCount: number;
}

export interface ImportJob {
  readonly form: CsvForm;
  /** Epoch milliseconds. */
  readonly createdAt: number;
  state: ImportState;
  done: number;
  findings: Findings;
  /** Faulty rows that were left out. */
  skipped: number;
  /** While the import runs: its completion, and how to stop it. */
  running: { ended: Promise<void>; stop: AbortController } | null;
}

export function newJob(form: CsvForm, createdAt: number): ImportJob {
  return { form, createdAt, state: 'uploaded', done: 0, skipped: 0, findings: noFindings(), running: null };
}

/** Whether it needs its uploaded file to go on. */
export const isIdle = ({ state }: ImportJob): boolean => state === 'uploaded' || state === 'failed';

export function noFindings(): Findings {
  return { errors: [], errorCount: 0 };
}

export function addFindings(findings: Findings, errors: readonly ImportError[]): void {
  findings.errorCount += errors.length;
  findings.errors.push(...errors.slice(0, MAX_SHOWN_ERRORS - findings.errors.length));
}

export function toStatus(id: string, { state, done, skipped, form, findings }: ImportJob): ImportStatus {
  const { errors, errorCount } = findings;
  return { import_id: id, state, done, total: form.rows, skipped, errors, error_count: errorCount };
}

/** Status of an import that was completed before this process started. */
export function doneStatus(id: string, licenses: number): ImportStatus {
  return {
    import_id: id,
    state: 'done',
    done: licenses,
    total: licenses,
    skipped: 0,
    errors: [],
    error_count: 0,
  };
}

/** @throws ApiError `invalid_request` */
function columnsOf(cells: readonly string[]): string[] {
  // UTF-16 without a byte order mark, whose letters are valid UTF-8 between NUL bytes.
  if (cells.some((cell) => cell.includes('\0'))) throw unreadable(fixedRule('not_utf8'));
  const columns = cells.map((cell, index) => cell.trim() || unnamedColumn(index));
  const twice = columns.find((column, index) => columns.indexOf(column) !== index);
  if (twice !== undefined)
    throw unreadable({ message: `two columns are named ${twice}`, reason: 'duplicate_column' });
  return columns;
}

/** The first rows. If the encoding is a guess, the first ones in which it matters come before the others. */
function createSample(encoding: TextEncoding) {
  const telling: string[][] = [];
  const others: string[][] = [];
  return {
    add(cells: string[]): void {
      const isTelling = encoding === 'windows-1252' && cells.some((cell) => NOT_ASCII.test(cell));
      const rows = isTelling ? telling : others;
      if (rows.length < SAMPLE_ROWS) rows.push(cells);
    },
    rows: () => [...telling, ...others].slice(0, SAMPLE_ROWS),
  };
}

/**
 * Reads the whole file once, so that all structural errors are found at upload.
 * @throws ApiError `invalid_request`
 */
export async function inspectCsv(path: string): Promise<CsvForm> {
  const format = await detectFormat(path);
  const sample = createSample(format.encoding);
  let columns: string[] | undefined;
  let rows = 0;
  for await (const { cells } of readCsv(path, format)) {
    if (columns === undefined) {
      columns = columnsOf(cells);
      continue;
    }
    rows += 1;
    if (rows > MAX_IMPORT_ROWS) throw unreadable(TOO_MANY_ROWS);
    sample.add(cells);
    if (rows % ROWS_PER_TURN === 0) await nextTurn();
  }
  if (columns === undefined || rows === 0) throw unreadable(fixedRule('no_rows'));
  return { ...format, columns, sample: sample.rows(), rows };
}
