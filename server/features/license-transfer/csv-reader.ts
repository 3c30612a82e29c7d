// Reads CSV files of any dialect row by row, without loading the whole file.
import { pipeline } from 'node:stream';
import { CsvError, parse } from 'csv-parse';
import { csvText } from '#server/wire/csv.ts';
import { detectEncoding, type TextEncoding, textOf, unreadable } from './csv-encoding.ts';

export interface CsvRow {
  /** Line on which the row begins, from 1. */
  line: number;
  cells: string[];
}

export interface CsvFormat {
  encoding: TextEncoding;
  delimiter: string;
  /** Whether the first line names the delimiter. */
  hasDelimiterLine: boolean;
}

const DELIMITERS = [',', ';', '\t'];
/** Excel then does not use the separator of the locale. */
const DELIMITER_LINE = /^sep=(?<delimiter>[,;\t]|\\t) *(?:\n|$)/iu;
/** Far more than a license needs. Without a limit, an unclosed quote would swallow the rest of the file. */
const MAX_ROW_BYTES = 65_536;

/** Explains the parser's error codes to the person who made the file. */
const PROBLEMS: Record<string, string> = {
  CSV_QUOTE_NOT_CLOSED: 'a quote is not closed',
  CSV_INVALID_CLOSING_QUOTE: 'there is text after a closing quote',
  INVALID_OPENING_QUOTE: 'there is a quote inside an unquoted value',
  CSV_MAX_RECORD_SIZE: `the row is longer than ${MAX_ROW_BYTES / 1024} KiB`,
};

/**
 * The delimiter is that of the first line `sep=;`, or the most frequent one in the first line; a comma if it has none.
 * @throws ApiError `invalid_request`
 */
export async function detectFormat(path: string): Promise<CsvFormat> {
  const encoding = await detectEncoding(path);
  let head = '';
  for await (const text of textOf(path, encoding)) {
    head += text;
    if (head.trimStart().includes('\n') || head.length > MAX_ROW_BYTES) break;
  }
  const named = DELIMITER_LINE.exec(head)?.groups?.['delimiter'];
  if (named !== undefined)
    return { encoding, delimiter: named === '\\t' ? '\t' : named, hasDelimiterLine: true };
  // Delimiters inside quotes do not count.
  const line =
    head
      .trimStart()
      .replaceAll(/"[^"]*"/gu, '')
      .split('\n', 1)[0] ?? '';
  const counts = DELIMITERS.map((delimiter) => line.split(delimiter).length);
  const delimiter = DELIMITERS[counts.indexOf(Math.max(...counts))] as string;
  return { encoding, delimiter, hasDelimiterLine: false };
}

/** Leaves the line end, so that the numbers of the other lines stay. */
async function* withoutFirstLine(pieces: AsyncIterable<string>): AsyncGenerator<string> {
  let isFirst = true;
  for await (const text of pieces) {
    const end = isFirst ? text.indexOf('\n') : 0;
    if (end === -1) continue;
    isFirst = false;
    yield text.slice(end);
  }
}

/**
 * All rows, including the header, without the apostrophes of `csvLine`; skips empty lines.
 * @param maxRowBytes a longer row is refused
 * @throws ApiError `invalid_request`
 */
export async function* readCsv(
  path: string,
  format: CsvFormat,
  maxRowBytes = MAX_ROW_BYTES,
): AsyncGenerator<CsvRow> {
  const { encoding, delimiter, hasDelimiterLine } = format;
  const separator = delimiter === ';' ? 'semicolon' : 'comma';
  const text = textOf(path, encoding);
  const parser = parse({
    delimiter,
    record_delimiter: '\n',
    relax_column_count: true,
    skip_records_with_empty_values: true,
    skip_empty_lines: true,
    max_record_size: maxRowBytes,
    info: true,
  });
  // Errors of the pipeline surface in the parser, which it destroys.
  pipeline(hasDelimiterLine ? withoutFirstLine(text) : text, parser, () => {});
  try {
    for await (const { info, record } of parser as AsyncIterable<{
      info: { lines: number };
      record: string[];
    }>) {
      const breaks = record.reduce((count, cell) => count + cell.split('\n').length - 1, 0);
      yield { line: info.lines - breaks, cells: record.map((cell) => csvText(cell, separator)) };
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    const { code, lines } = error as CsvError & { lines: number };
    const message = `line ${lines}: ${PROBLEMS[code] ?? 'it cannot be read as CSV'}`;
    throw unreadable({ message, reason: 'unreadable_row', values: { line: lines } });
  }
}
