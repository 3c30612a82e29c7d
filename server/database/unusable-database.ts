// Errors for a database that cannot be opened: they name it and the remedy, where the drivers only give a code.
import type { DatabaseLocation } from './connect.ts';
import { driverCodeOf } from '#server/platform/driver-error.ts';
import { OperatorError } from '#server/platform/operator-error.ts';

/** The database cannot be used in its current state. The message is one line for the administrator. */
export class UnusableDatabaseError extends OperatorError {
  override readonly name = 'UnusableDatabaseError';
  override readonly code = 'unavailable';
  override readonly refusal = 'database';
}

const REMEDIES: Readonly<Record<string, string>> = {
  SQLITE_NOTADB: 'is not a database or is damaged; restore it from a backup, or move it away to start empty',
  SQLITE_CORRUPT: 'is damaged; restore it from a backup, or move it away to start empty',
  SQLITE_CANTOPEN: 'cannot be opened; check that it is a file and that this user can read and write it',
  SQLITE_READONLY: 'cannot be written; check that this user can write to it and its folder',
  SQLITE_FULL: 'cannot be written because the disk is full; free some space',
  SQLITE_IOERR: 'cannot be read or written; check the disk for errors, free space and quotas',
  SQLITE_BUSY: 'is locked by another program; close that program',
};

/** Sequelize's names for connection errors. Importing the classes would slow down the start. */
const NO_CONNECTION = /^Sequelize(?:Connection|Host|AccessDenied|InvalidConnection)/u;

/** @returns the error to throw instead; unchanged if it does not concern the file */
export function aboutDatabaseFile(error: unknown, file: string): unknown {
  if (!(error instanceof Error)) return error;
  const remedy = REMEDIES[String(driverCodeOf(error))];
  if (remedy === undefined) return error;
  return new UnusableDatabaseError(`the database ${file} ${remedy} (${error.message})`, { cause: error });
}

/** @returns the error to throw instead; unchanged if it does not concern the database itself */
export function aboutDatabase(error: unknown, { url, file }: DatabaseLocation): unknown {
  if (url === null) return aboutDatabaseFile(error, file);
  if (!(error instanceof Error) || !NO_CONNECTION.test(error.name)) return error;
  const { host, pathname } = new URL(url);
  return new UnusableDatabaseError(
    `the database ${host}${pathname} cannot be reached (${error.message}); check database_url and the database server`,
    { cause: error },
  );
}
