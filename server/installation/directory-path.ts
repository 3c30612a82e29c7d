// Recognizes paths at which no data directory can work, before anything is created there.
import { existsSync, lstatSync } from 'node:fs';
import { problemOfParent } from './used-directory.ts';

/** What the library of the log refuses on every platform (`validateFileName` of pino-roll). */
const REFUSED = /[<>"|?*:]/u;
const DRIVE = /^[A-Za-z]:/u;

const isLinkToNothing = (path: string): boolean =>
  !existsSync(path) && (lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink() ?? false);

/** @returns the reason and the remedy; null if the path can be used */
function problemOfPath(dataDir: string): string | null {
  const [refused] = REFUSED.exec(dataDir.replace(DRIVE, '')) ?? [];
  if (refused !== undefined)
    return `the data directory ${dataDir} cannot be used: its path must not contain ${refused}; choose another --data-dir`;
  if (isLinkToNothing(dataDir))
    return `the data directory ${dataDir} cannot be used: it is a symbolic link to nothing; check that its disk is mounted, or correct the link`;
  return null;
}

/**
 * @param options.mayBeNew a new installation is wanted, even below the directory of another
 * @returns why no server would work there, and the remedy, or null
 */
export function problemOfPlace(dataDir: string, { mayBeNew = false } = {}): string | null {
  return problemOfPath(dataDir) ?? (mayBeNew ? null : problemOfParent(dataDir));
}
