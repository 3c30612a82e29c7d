// Writes that a unique column may refuse, such as a name that is taken.
import { UniqueConstraintError } from 'sequelize';

/** Not retried, unlike the error of the database: the value is taken. */
export class DuplicateRowError extends Error {
  override readonly name = 'DuplicateRowError';
}

/** @throws DuplicateRowError if another row has the value of a unique column */
export async function refuseDuplicate<Result>(write: Promise<Result>): Promise<Result> {
  try {
    return await write;
  } catch (error) {
    throw error instanceof UniqueConstraintError ? new DuplicateRowError() : error;
  }
}
