// Files named on the command line, where `-` is stdin or stdout; what fails says which file and why.
import { open, readFile, unlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ApiError } from '#server/wire/errors.ts';
import { CommandFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';

export const STANDARD_STREAM = '-';

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  EEXIST: 'it exists already',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is no folder',
};

/** @throws CommandFailure */
export async function readTextFile(path: string): Promise<string> {
  try {
    return path === STANDARD_STREAM ? await text(commandIo().stdin) : await readFile(path, 'utf8');
  } catch (error) {
    throw fileFailure('not_found', `cannot read ${path}`, error);
  }
}

/** @throws CommandFailure */
export async function writeTextFile(path: string, content: string): Promise<void> {
  try {
    await writeFile(path, content);
  } catch (error) {
    throw fileFailure('invalid_request', `cannot write ${path}`, error);
  }
}

/** A file that is there, empty and for its owner alone, before there is a secret to write into it. */
export interface SecretFile {
  finish(content: string | AsyncIterable<string | Uint8Array>): Promise<void>;
  discard(): Promise<void>;
}

/** @throws CommandFailure, also if the file is there already */
export async function createSecretFile(path: string): Promise<SecretFile> {
  const what = `cannot write ${path}`;
  const failed = (error: unknown): never => {
    // What was to be written may not have come, which is no fault of the file.
    throw error instanceof ApiError ? error : fileFailure('invalid_request', what, error);
  };
  const file = await open(path, 'wx', 0o600).catch(failed);
  return {
    async finish(content) {
      await file.writeFile(content).catch(failed);
      await file.sync().catch(failed);
      await file.close();
    },
    async discard() {
      await file.close().catch(() => {});
      await unlink(path).catch(() => {});
    },
  };
}

/** @param code for a file that is missing; what else can fail is `invalid_request` */
export function fileFailure(
  code: 'not_found' | 'invalid_request',
  what: string,
  error: unknown,
): CommandFailure {
  const { code: cause = '', message } = error as NodeJS.ErrnoException;
  return new CommandFailure(
    cause === 'ENOENT' ? code : 'invalid_request',
    `${what}: ${PROBLEMS[cause] ?? message}`,
  );
}
