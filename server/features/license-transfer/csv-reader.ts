// Reads a CSV file row by row, in whichever dialect it was written; never the whole of it at once.
import { createReadStream } from 'node:fs';
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { ApiError } from '#server/wire/errors.ts';

export interface CsvRow {
  /** On which the row begins, from 1. */
  line: number;
  cells: string[];
}

const DELIMITERS = [',', ';', '\t'];
/** Small, as the rows of a piece are read in one go, during which nobody else is answered. */
const PIECE_BYTES = 16_384;
/** Far more than a license has to say; a quote that is never closed would swallow the rest of the file. */
const MAX_ROW_BYTES = 65_536;

/** What is wrong with the form of a file, in the words of the people who made it. */
const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is opened and never closed',
  CSV_INVALID_CLOSING_QUOTE: 'a text goes on behind its closing quote',
  INVALID_OPENING_QUOTE: 'a quote stands inside a text that is not quoted',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_ROW_BYTES / 1024} KiB`,
};

function unreadable(problem: string): ApiError {
  return new ApiError('invalid_request', `file: ${problem}`);
}

/** Its text with line ends of one kind, without a byte order mark. @throws ApiError `invalid_request` */
async function* textOf(path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadable('it is not UTF-8; save it as "CSV UTF-8"');
    }
  };
  // A carriage return at the end of a piece may be the first half of a line end.
  let held = '';
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES })) {
    const text = held + decode(bytes as Buffer);
    held = text.endsWith('\r') ? '\r' : '';
    yield text.slice(0, text.length - held.length).replaceAll(/\r\n?/gu, '\n');
  }
  yield (held + decode()).replace('\r', '\n');
}

/** The delimiter that the first line has most of; a comma if it has none. @throws ApiError `invalid_request` */
export async function detectDelimiter(path: string): Promise<string> {
  let head = '';
  for await (const text of textOf(path)) {
    head = (head + text).trimStart();
    if (head.includes('\n') || head.length > MAX_ROW_BYTES) break;
  }
  // What is quoted tells nothing.
  const line = head.replaceAll(/"[^"]*"/gu, '').split('\n', 1)[0] ?? '';
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  return DELIMITERS[counts.indexOf(Math.max(...counts))] as string;
}

/** All rows, the one with the names of the columns first; empty lines are passed over. @throws ApiError `invalid_request` */
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
  // Its errors come out of the parser, which it destroys.
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
