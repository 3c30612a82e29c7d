// Uploaded files, kept in the data directory until they are imported, cancelled or a day old.
import { randomUUID } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { mkdir, open, readdir, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { removeWhenFreeLater, renameWhenFreeLater } from '#server/platform/busy-files.ts';
import type { DocumentParts } from '#server/platform/document.ts';
import { systemCodeOf } from '#server/platform/system-error.ts';
import { csvLine, csvStart, type CsvStyle } from '#server/wire/csv.ts';
import { ApiError } from '#server/wire/errors.ts';
import { type CsvFormat, readCsv } from './csv-reader.ts';
import { withErrorText } from './faulty-row.ts';
import { IMPORT_RESULTS, type ImportResult } from './license-transfer-contract.ts';
import { DAY_MS } from '#server/wire/instants.ts';

const RESULT_FORMAT: CsvFormat = { encoding: 'utf-8', delimiter: ',', hasDelimiterLine: false };
/** Far more than the longest row of a file with its errors. */
const MAX_RESULT_ROW_BYTES = 1_048_576;

/** Errors that are not the uploader's fault. */
const NO_ROOM: ReadonlySet<string | undefined> = new Set([
  'ENOSPC',
  'EDQUOT',
  'EFBIG',
  'EIO',
  'ESTALE',
  'EROFS',
  'EACCES',
  'EPERM',
  // The folder is a link to a disk that is not mounted, or is not a folder.
  'ENOENT',
  'EEXIST',
  'ENOTDIR',
  'ELOOP',
]);

/** @returns `unavailable` if a file could not be written for lack of space or permission; otherwise the error itself */
function asStorageFailure(error: unknown): unknown {
  const code = systemCodeOf(error);
  if (!NO_ROOM.has(code)) return error;
  return new ApiError('unavailable', `the file cannot be stored in the data directory (${code})`);
}

const storedRows = (path: string) => readCsv(path, RESULT_FORMAT, MAX_RESULT_ROW_BYTES);

/** A result as it is stored, or with another separator or the texts of errors. */
async function* asCsv(
  path: string,
  part: ImportResult,
  { separator, bom }: CsvStyle,
): AsyncGenerator<string | Uint8Array> {
  yield csvStart({ bom });
  if (separator === 'comma' && part === 'keys') {
    yield* createReadStream(path) as AsyncIterable<Uint8Array>;
    return;
  }
  let isHeader = true;
  for await (const { cells } of storedRows(path)) {
    yield csvLine(part === 'keys' || isHeader ? cells : withErrorText(cells), separator);
    isHeader = false;
  }
}

async function* asJsonLines(path: string): AsyncGenerator<string> {
  for await (const { cells } of storedRows(path)) yield `${JSON.stringify(cells)}\n`;
}

/** @param directory created on first use */
export function createImportFiles(directory: string) {
  const pathOf = (id: string) => join(directory, `${id}.csv`);
  const resultPath = (id: string, part: ImportResult) => join(directory, `${id}.${part}.csv`);

  async function write(path: string, pieces: AsyncIterable<Uint8Array>): Promise<void> {
    await mkdir(directory, { recursive: true, mode: 0o700 });
    // Readable by the owner only: it is a customer list.
    const file = await open(path, 'wx', 0o600);
    try {
      for await (const piece of pieces) await file.writeFile(piece);
    } finally {
      await file.close();
    }
  }

  return {
    pathOf,
    has: (id: string): boolean => existsSync(pathOf(id)),
    /** Removes the uploaded file, but not its results. */
    remove: (id: string): Promise<void> => removeWhenFreeLater(pathOf(id)),
    async removeResults(id: string): Promise<void> {
      for (const part of IMPORT_RESULTS) await removeWhenFreeLater(resultPath(id, part));
    },

    /** Null if the import has no such result. */
    readResult(id: string, part: ImportResult, style: CsvStyle | 'json_lines'): DocumentParts | null {
      const path = resultPath(id, part);
      if (!existsSync(path)) return null;
      return style === 'json_lines' ? asJsonLines(path) : asCsv(path, part, style);
    },

    /**
     * Writes a result line by line. It can be read once it is kept.
     * @throws ApiError `unavailable` if there is no space for it; writing does, too
     */
    async writeResult(id: string, part: ImportResult) {
      const draft = join(directory, `${id}.${randomUUID()}.part`);
      const file = await open(draft, 'wx', 0o600).catch((error: unknown) => {
        throw asStorageFailure(error);
      });
      return {
        async write(lines: string): Promise<void> {
          await file.writeFile(lines).catch((error: unknown) => {
            throw asStorageFailure(error);
          });
        },
        async keep(): Promise<void> {
          await file.close();
          await renameWhenFreeLater(draft, resultPath(id, part));
        },
        async discard(): Promise<void> {
          await file.close();
          await removeWhenFreeLater(draft);
        },
      };
    },
    /** Restarts the one-day period, so that the file is not removed during its import. */
    async touch(id: string): Promise<void> {
      const now = new Date();
      await utimes(pathOf(id), now, now);
    },

    /**
     * Keeps a file if `accept` reads it to its end without an error; otherwise removes it.
     * @throws ApiError `unavailable` if there is no space for it
     */
    async keep<Result>(pieces: AsyncIterable<Uint8Array>, accept: (path: string) => Promise<Result>) {
      const id = randomUUID();
      const draft = `${pathOf(id)}.part`;
      try {
        await write(draft, pieces);
        const accepted = await accept(draft);
        await renameWhenFreeLater(draft, pathOf(id));
        return { id, accepted };
      } catch (error) {
        await removeWhenFreeLater(draft);
        throw asStorageFailure(error);
      }
    },

    /** Removes files that are a day old, including remains of interrupted uploads. */
    async removeForgotten(): Promise<void> {
      const names = await readdir(directory).catch(() => []);
      for (const name of names) {
        const path = join(directory, name);
        // Another process may have removed it meanwhile.
        const found = await stat(path).catch(() => null);
        if (found && Date.now() - found.mtimeMs > DAY_MS) await removeWhenFreeLater(path);
      }
    },
  };
}

export type ImportFiles = ReturnType<typeof createImportFiles>;
