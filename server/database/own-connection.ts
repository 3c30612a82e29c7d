// Runs a long statement on a separate connection: shared connections stay free, and a stop can interrupt the statement.
import { openSqliteFile, type SqliteFile } from './sqlite-file.ts';

/**
 * @param file an existing SQLite file
 * @param signal aborted to interrupt the statement, which then fails with `SQLITE_INTERRUPT`
 */
export async function onOwnConnection<Result>(
  file: string,
  signal: AbortSignal,
  work: (database: SqliteFile) => Promise<Result>,
): Promise<Result> {
  signal.throwIfAborted();
  const database = await openSqliteFile(file);
  const interrupt = () => database.interrupt();
  signal.addEventListener('abort', interrupt);
  try {
    signal.throwIfAborted();
    return await work(database);
  } finally {
    signal.removeEventListener('abort', interrupt);
    await database.close();
  }
}
