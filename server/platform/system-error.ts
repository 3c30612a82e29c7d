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
