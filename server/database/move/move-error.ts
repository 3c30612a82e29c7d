// What went wrong with a copy, in one line for the administrator: the drivers only give codes.
import { type DriverError, driverErrorOf } from '#server/platform/driver-error.ts';
import { OperatorError } from '#server/platform/operator-error.ts';
import { systemCodeOf } from '#server/platform/system-error.ts';

/** The message gives the reason, what has changed, and the remedy. */
export class MoveError extends OperatorError {
  override readonly name = 'MoveError';
  override readonly code = 'unavailable';
}

const NO_CONNECTION = /^Sequelize(?:Connection|Host|AccessDenied|InvalidConnection)/u;

/** By SQLSTATE, or its first two characters (https://www.postgresql.org/docs/current/errcodes-appendix.html). */
const POSTGRES: Readonly<Record<string, string>> = {
  '08': 'the connection to PostgreSQL was lost',
  '22021': 'a text contains a character that PostgreSQL cannot store',
  '22P05': 'a text contains a character that PostgreSQL cannot store',
  '22P02': 'a value is not of the type that its column has in PostgreSQL',
  '40P01': 'the move and another transaction waited for each other, so PostgreSQL ended the move; try again',
  '42501': 'the database user has no permission',
  '53100': 'the disk of PostgreSQL is full',
  '53': 'PostgreSQL has run out of resources',
  '55P03': 'another move uses the database',
  '57': 'PostgreSQL is shutting down or has ended the connection',
};

const OTHERS: Readonly<Record<string, string>> = {
  SQLITE_FULL: 'the disk of the data directory is full',
  SQLITE_CORRUPT: 'the SQLite database is damaged; `license-desk doctor` shows where',
  SQLITE_IOERR: 'the disk of the data directory cannot be read or written',
  ECONNRESET: 'the connection to PostgreSQL was lost',
  ECONNREFUSED: 'the connection to PostgreSQL was lost',
  EPIPE: 'the connection to PostgreSQL was lost',
  ETIMEDOUT: 'the connection to PostgreSQL was lost',
  ENOSPC: 'the disk of the data directory is full',
  EDQUOT: 'the disk quota for the data directory is used up',
};

function reasonOf(error: DriverError): string | undefined {
  const { message } = error;
  const code = systemCodeOf(error);
  // The driver has no code for it.
  if (/^Connection terminated|not queryable/u.test(message)) return POSTGRES['08'];
  if (code === undefined) return undefined;
  return (
    OTHERS[code] ?? (/^[\dA-Z]{5}$/u.test(code) ? (POSTGRES[code] ?? POSTGRES[code.slice(0, 2)]) : undefined)
  );
}

/** @returns null if it is none of these */
function problemOf(error: Error, database: string): string | null {
  const cause = driverErrorOf(error);
  const reason = reasonOf(cause);
  if (reason === undefined) return null;
  const where = typeof cause.where === 'string' ? `, ${cause.where.split('\n')[0]?.slice(0, 80)}` : '';
  return `${reason} (${database}: ${cause.message}${where})`;
}

/** @param database the PostgreSQL database, without credentials @returns the error to throw instead; unchanged if it is none of these */
export function aboutMove(error: unknown, database: string): unknown {
  if (!(error instanceof Error) || error instanceof OperatorError) return error;
  const options = { cause: error };
  if (NO_CONNECTION.test(error.name))
    return new MoveError(
      `the database ${database} cannot be reached (${error.message}); check the URL and the database server`,
      options,
    );
  const problem = problemOf(error, database);
  return problem === null ? error : new MoveError(`${problem}; nothing has changed`, options);
}

/** For a move whose first or last steps have been made. @param state what has changed, and what to do */
export function aboutPartialMove(cause: unknown, database: string, state: string): MoveError {
  const error = cause instanceof Error ? cause : new Error(String(cause));
  return new MoveError(`${problemOf(error, database) ?? error.message}; ${state}`, { cause });
}
