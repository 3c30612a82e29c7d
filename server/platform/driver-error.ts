// What the database driver has reported: Sequelize's errors contain the driver's error.
export interface DriverError extends Error {
  /** `SQLITE_…`, an SQLSTATE, or a code of the operating system. */
  code?: unknown;
  /** Where PostgreSQL was in a COPY. */
  where?: unknown;
}

export function driverErrorOf(error: Error & { original?: unknown }): DriverError {
  return error.original instanceof Error ? error.original : error;
}

/** @returns undefined if there is no code */
export function driverCodeOf(error: unknown): unknown {
  return error instanceof Error ? driverErrorOf(error).code : undefined;
}
