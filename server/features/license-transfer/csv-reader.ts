// Reads CSV files of any dialect row by row, without loading the whole file.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ApiError } from '#server/wire/errors.ts';

export interface CsvRow {
  /** Line on which the row begins, from 1. */
  line: number;
  cells: string[];
}

const DELIMITERS = [',', ';', '\t'];
/** Small, because all rows of a piece are parsed without a pause for other requests. */
const PIECE_BYTES = 16_384;
/** Far more than a license needs. Without a limit, an unclosed quote would swallow the rest of the file. */
const MAX_ROW_BYTES = 65_536;

/** Explains papaparse's error codes to the person who made the file. */
const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after a closing quote',
  INVALID_OPENING_QUOTE: 'there is a quote inside an unquoted value',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_ROW_BYTES / 1024} KiB`,
};

function unreadable(problem: string): ApiError {
  return new ApiError('invalid_request', `file: ${problem}`);
}

/** The file's text with uniform line ends and without a byte order mark. @throws ApiError `invalid_request` */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadable('it is not UTF-8; save it as "CSV UTF-8"');
    }
  };
  // A carriage return at the end of a piece may be half of a line end.
  let held = '';
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    const text = held + decode(bytes as Buffer);
    held = text.endsWith('\r') ? '\r' : '';
    yield text.slice(0, text.length - held.length).replaceAll(/\r\n?/gu, '\n');
  }
  yield (held + decode()).replace('\r', '\n');
}

/** The most frequent delimiter in the first line; a comma if it has none. @throws ApiError `invalid_request` */
export async function detectDelimiter(path: string): Promise<string> {
  let head = '';
  for await (const text of textOf(path)) {
    head = (head + text).trimStart();
    if (head.includes('\n') || head.length > MAX_ROW_BYTES) break;
  }
  // Delimiters inside quotes do not count.
  const line = head.replaceAll(/"[^"]*"/gu, '').split('\n', 1)[0] ?? '';
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string;
}

/** All rows, including the header; skips empty lines. @throws ApiError `invalid_request` */
export async function* readCsv(path: string, delimiter: string): AsyncGenerator<CsvRow> {
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    skip_records_with_empty_values: true,
    skip_empty_lines: true,
    max_record_size: MAX_ROW_BYTES,
    info: true,
  });
  // Errors of the pipeline surface in the parser, which it destroys.
  pipeline(textOf(path), parser, () => {});
  try {
    for await (const { info, record } of parser as AsyncIterable<{
      info: { lines: number };
      record: string[];
    }>) {
      const breaks = record.reduce((count, cell) => count + cell.split('\n').length - 1, 0);
      yield { line: info.lines - breaks, cells: record };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, lines } = error as CsvError & { lines?: number };
    throw unreadable(`line ${lines}: ${PROBLEMS[code] ?? 'it cannot be read as CSV'}`);
  }
}
