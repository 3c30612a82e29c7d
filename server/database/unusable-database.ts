// Says of a database that cannot be opened which one it is and what can be done, where the drivers only give a code.
import type { DatabaseLocation } from './connect.ts';
import { OperatorError } from '#server/platform/operator-error.ts';

/** The database cannot be used as it is; the message is one line for the administrator. */
export class UnusableDatabaseError extends OperatorError {
  override readonly name = 'UnusableDatabaseError';
  override readonly code = 'unavailable';
  override readonly refusal = 'database';
}

const REMEDIES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is no database or is damaged; restore it from a backup, or move it away to begin anew',
  SQLITE_CORRUPT: 'is damaged; restore it from a backup, or move it away to begin anew',
  SQLITE_CANTOPEN: 'cannot be opened; check that it is a file, which this user may read and write',
  SQLITE_READONLY: 'cannot be written; check that this user may write it and its folder',
  SQLITE_FULL: 'cannot be written, as the disk is full; make space',
  SQLITE_IOERR: 'cannot be read or written; check its disk, and whether that is full',
  SQLITE_BUSY: 'is locked by another program; close that one',
};

/** Sequelize's errors hold the driver's. */
function sqliteCodeOf(error: Error & { code?: unknown; original?: { code?: unknown } }): string {
  return String(error.original?.code ?? error.code);
}

/** Sequelize's names for whatever keeps it from a connection; not its classes, as those take long to load. */
const NO_CONNECTION = /^Sequelize(?:Connection|Host|AccessDenied|InvalidConnection)/u;

/** @returns the error to throw instead; the same one if it is not about the file */
export function aboutDatabaseFile(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const remedy = REMEDIES[sqliteCodeOf(error)];
  if (remedy === undefined) return error;
  return new UnusableDatabaseError(`the database ${file} ${remedy} (${error.message})`, { cause: error });
}

/** @returns the error to throw instead; the same one if it is not about the database as such */
export function aboutDatabase(error: unknown, { url, file }: DatabaseLocation): unknown {
  if (url === null) return aboutDatabaseFile(error, file);
  if (!(error instanceof Error) || !NO_CONNECTION.test(error.name)) return error;
  const { host, pathname } = new URL(url);
  return new UnusableDatabaseError(
    `the database ${host}${pathname} cannot be reached (${error.message}); check database_url and that server`,
    { cause: error },
  );
}
