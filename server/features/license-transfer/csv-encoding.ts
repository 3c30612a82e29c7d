// The text of a file in the encodings that spreadsheets write, piece by piece.
import { createReadStream } from 'node:fs';
import { type ApiError, refusedField } from '#server/wire/errors.ts';
import { type BrokenRule, fixedRule } from '#server/wire/field-rules.ts';
import type { ImportEncoding } from './license-transfer-contract.ts';

export type TextEncoding = 'utf-8' | 'utf-16le' | 'utf-16be' | 'windows-1252';

/** Small, because all rows of a piece are parsed without a pause for other requests. */
const PIECE_BYTES = 16_384;
const BYTE_ORDER_MARKS = [
  { encoding: 'utf-8', bytes: Buffer.of(0xef, 0xbb, 0xbf) },
  { encoding: 'utf-16le', bytes: Buffer.of(0xff, 0xfe) },
  { encoding: 'utf-16be', bytes: Buffer.of(0xfe, 0xff) },
] as const;
/** Bytes that Windows-1252 does not use, and control characters that no table has. */
const NOT_WINDOWS_1252 = /[\0-\u0008\u000e-\u001f\u007f\u0081\u008d\u008f\u0090\u009d]/u;

export const unreadable = (problem: BrokenRule): ApiError => refusedField('file', problem);

export function encodingName(encoding: TextEncoding): ImportEncoding {
  return encoding === 'utf-16le' || encoding === 'utf-16be' ? 'utf-16' : encoding;
}

async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  for await (const bytes of createReadStream(path, { highWaterMark: PIECE_BYTES })) yield bytes as Buffer;
}

/** @returns null if the file has no byte order mark */
async function markedEncoding(path: string): Promise<TextEncoding | null> {
  for await (const start of piecesOf(path)) {
    const mark = BYTE_ORDER_MARKS.find(({ bytes }) => start.subarray(0, bytes.length).equals(bytes));
    return mark?.encoding ?? null;
  }
  return null;
}

async function isUtf8(path: string): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const bytes of piecesOf(path)) decoder.decode(bytes, { stream: true });
    decoder.decode();
    return true;
  } catch (error) {
    if (error instanceof TypeError) return false;
    throw error;
  }
}

/**
 * The encoding of the byte order mark. A file without one is UTF-8 if all of it is; otherwise Windows-1252, in which
 * almost all bytes are letters.
 * @throws ApiError `invalid_request` if it is none of them
 */
export async function detectEncoding(path: string): Promise<TextEncoding> {
  const marked = await markedEncoding(path);
  if (marked !== null) return marked;
  if (await isUtf8(path)) return 'utf-8';
  for await (const bytes of piecesOf(path))
    if (NOT_WINDOWS_1252.test(bytes.toString('latin1'))) throw unreadable(fixedRule('not_utf8'));
  return 'windows-1252';
}

/** The file's text with uniform line ends and without a byte order mark. @throws ApiError `invalid_request` */
export async function* textOf(path: string, encoding: TextEncoding): AsyncGenerator<string> {
  const decoder = new TextDecoder(encoding, { fatal: true });
  const decode = (bytes?: Uint8Array) => {
    try {
      return decoder.decode(bytes, { stream: bytes !== undefined });
    } catch {
      throw unreadable(fixedRule(encoding === 'utf-8' ? 'not_utf8' : 'not_utf16'));
    }
  };
  // A carriage return at the end of a piece may be half of a line end.
  let held = '';
  for await (const bytes of piecesOf(path)) {
    const text = held + decode(bytes);
    held = text.endsWith('\r') ? '\r' : '';
    yield text.slice(0, text.length - held.length).replaceAll(/\r\n?/gu, '\n');
  }
  yield (held + decode()).replace('\r', '\n');
}
