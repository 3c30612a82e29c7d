// Files named on the command line, where `-` is stdin or stdout; what fails says which file and why.
import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { CommandFailure } from './command-failure.ts';

export const STANDARD_STREAM = '-';

const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file or folder',
  EISDIR: 'it is a folder',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  ENOTDIR: 'a part of the path is no folder',
};

/** @throws CommandFailure */
export async function readTextFile(path: string): Promise<string> {
  try {
    return path === STANDARD_STREAM ? await text(process.stdin) : await readFile(path, 'utf8');
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

function fileFailure(code: 'not_found' | 'invalid_request', what: string, error: unknown): CommandFailure {
  const { code: cause = '', message } = error as NodeJS.ErrnoException;
  return new CommandFailure(
    cause === 'ENOENT' ? code : 'invalid_request',
    `${what}: ${PROBLEMS[cause] ?? message}`,
  );
}
