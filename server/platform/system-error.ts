// What the operating system refuses. Node names only the errors that libuv knows; a disk quota that is used up arrives as
// `Unknown system error -122`.
import { constants } from 'node:os';

const { EDQUOT, ESTALE } = constants.errno;

const NAMELESS: ReadonlyMap<unknown, readonly [code: string, meaning: string]> = new Map([
  [-EDQUOT, ['EDQUOT', 'disk quota exceeded']],
  // Of a network drive.
  [-ESTALE, ['ESTALE', 'stale file handle']],
]);

const named = (error: unknown) => NAMELESS.get((error as NodeJS.ErrnoException | null)?.errno);

/** `ENOSPC`, or a code of another kind. @returns undefined if there is none */
export function systemCodeOf(error: unknown): string | undefined {
  const code: unknown = named(error)?.[0] ?? (error as NodeJS.ErrnoException | null)?.code;
  return typeof code === 'string' ? code : undefined;
}

/** Node's message, with the name and the meaning of the error. */
export function systemMessageOf(error: Error): string {
  const name = named(error);
  if (!name) return error.message;
  return error.message.replace(
    /^(?:Unknown system error -\d+: )?Unknown system error -\d+/u,
    name.join(': '),
  );
}

/** Why a file that the user named cannot be used. */
const REASONS: Readonly<Record<string, string>> = {
  ENOENT: 'no such file or directory',
  EISDIR: 'it is a directory',
  EEXIST: 'the file already exists',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  EROFS: 'the file system is read-only',
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file would be larger than the limit',
  EIO: 'the disk cannot be read or written',
  ESTALE: 'the network drive has to be mounted again',
  ENOTDIR: 'part of the path is not a directory',
};

/** In words, where Node's message would repeat the path and name a system call. */
export function systemReasonOf(error: Error): string {
  return REASONS[systemCodeOf(error) ?? ''] ?? error.message;
}
