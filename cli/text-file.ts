// Files named on the command line, where `-` is stdin or stdout. Errors name the file and the reason.
import { open, readFile, unlink, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { ApiError } from '#server/wire/errors.ts';
import { CommandFailure } from './command-failure.ts';
import { commandIo } from './command-io.ts';

export const STANDARD_STREAM = '-';

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'it is a directory',
  EEXIST: 'the file already exists',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'part of the path is not a directory',
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

/** A file created empty, readable only by its owner, before its secret exists. */
export interface SecretFile {
  finish(content: string | AsyncIterable<string | Uint8Array>): Promise<void>;
  discard(): Promise<void>;
}

/** @throws CommandFailure, also if the file exists */
export async function createSecretFile(path: string): Promise<SecretFile> {
  const what = `cannot write ${path}`;
  const failed = (error: unknown): never => {
    // The content failed to arrive; the file is not the cause.
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

/** @param code for a missing file; any other failure is `invalid_request` */
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
