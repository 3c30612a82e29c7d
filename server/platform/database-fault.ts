// Classifies failed statements that concern the database itself, for either driver and Sequelize.
import { driverErrorOf } from './driver-error.ts';
import { systemCodeOf } from './system-error.ts';

/**
 * `gone`: the open files are no longer the files in the data directory. `moving`: the data is about to be in another
 * database. `moved`: it is there, and this process still has the old one open. `outdated`: a newer version has migrated the database.
 */
export type DatabaseFault =
  | 'busy'
  | 'damaged'
  | 'full'
  | 'gone'
  | 'io'
  | 'moved'
  | 'moving'
  | 'outdated'
  | 'read_only'
  | 'unreachable';

/** A fault that the server detects itself, without a driver error. */
export class DatabaseFaultError extends Error {
  override readonly name = 'DatabaseFaultError';
  readonly fault: DatabaseFault;

  constructor(fault: DatabaseFault, message: string) {
    super(message);
    this.fault = fault;
  }
}

/** https://www.sqlite.org/rescode.html; the driver reports primary codes only. */
const SQLITE_FAULTS: Readonly<Record<string, DatabaseFault>> = {
  SQLITE_BUSY: 'busy',
  SQLITE_LOCKED: 'busy',
  SQLITE_CORRUPT: 'damaged',
  SQLITE_NOTADB: 'damaged',
  SQLITE_FULL: 'full',
  SQLITE_IOERR: 'io',
  SQLITE_CANTOPEN: 'io',
  SQLITE_READONLY: 'read_only',
};

/** https://www.postgresql.org/docs/current/errcodes-appendix.html */
const POSTGRES_FAULTS: readonly [RegExp, DatabaseFault][] = [
  // Connection exceptions, server shutdown or crash, too many connections, out of memory, and sessions that PostgreSQL has
  // ended because their transaction was idle or open for too long.
  [/^(?:08|57P0|53[0234]|25P0[34])/u, 'unreachable'],
  [/^53100$/u, 'full'],
  // The wait for a lock is over, or the statement took too long or was canceled by an administrator.
  [/^(?:55P03|57014)$/u, 'busy'],
  [/^58030$/u, 'io'],
  [/^XX00[12]$/u, 'damaged'],
  [/^25006$/u, 'read_only'],
  [/^E(?:CONN\w+|PIPE|TIMEDOUT|HOSTUNREACH|NETUNREACH|AI_AGAIN)$|^ENOTFOUND$/u, 'unreachable'],
];

/** Messages of `pg` errors without a code, after the connection is lost. */
const LOST_CONNECTION = /Connection terminated|not queryable|Client was closed|timeout expired/u;

/** Sequelize's names for connection errors. Importing the classes would slow down the start. */
const NO_CONNECTION = /^Sequelize(?:Connection|Host|AccessDenied|InvalidConnection)/u;

function postgresFault(code: string): DatabaseFault | null {
  return POSTGRES_FAULTS.find(([pattern]) => pattern.test(code))?.[1] ?? null;
}

/** Whether the connection was lost in use, so that another one may work. False if no connection can be opened. */
export function isConnectionLost(error: unknown): boolean {
  if (!(error instanceof Error) || NO_CONNECTION.test(error.name)) return false;
  return !(error instanceof DatabaseFaultError) && faultOf(error) === 'unreachable';
}

/** Whether a file could not be written because its disk or the quota is full. */
export function isOutOfSpace(error: unknown): boolean {
  const code = error instanceof Error ? systemCodeOf(driverErrorOf(error)) : undefined;
  return code === 'SQLITE_FULL' || code === 'ENOSPC' || code === 'EDQUOT';
}

/** @returns null if the error does not concern the database itself */
export function faultOf(error: unknown): DatabaseFault | null {
  if (error instanceof DatabaseFaultError) return error.fault;
  if (!(error instanceof Error)) return null;
  const driverError = driverErrorOf(error);
  const code = String(driverError.code);
  if (code.startsWith('SQLITE_')) return SQLITE_FAULTS[code] ?? null;
  // Sockets, files and streams elsewhere in the server fail with the same codes.
  if (!error.name.startsWith('Sequelize')) return null;
  if (error.name === 'SequelizeConnectionAcquireTimeoutError') return 'busy';
  if (NO_CONNECTION.test(error.name)) return 'unreachable';
  return postgresFault(code) ?? (LOST_CONNECTION.test(driverError.message) ? 'unreachable' : null);
}
