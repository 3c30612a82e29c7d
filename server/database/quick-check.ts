// Checks a SQLite file for damage while it is in use.
import { faultOf } from '#server/platform/database-fault.ts';
import { onOwnConnection } from './own-connection.ts';

/**
 * Reads every page once, on a separate connection with its own driver thread. Does not compare indices with their
 * tables;
 * `license-desk doctor` does.
 * @returns the first damage found, as SQLite describes it; null if there is none
 * @throws Error with SQLite's code if the file cannot be read, or `SQLITE_INTERRUPT` once `signal` is aborted
 */
export async function quickCheck(file: string, signal: AbortSignal): Promise<string | null> {
  try {
    const [row] = await onOwnConnection(file, signal, (database) =>
      database.all<{ quick_check: string }>('PRAGMA quick_check(1)'),
    );
    return row === undefined || row.quick_check === 'ok' ? null : row.quick_check;
  } catch (error) {
    if (faultOf(error) === 'damaged') return (error as Error).message;
    throw error;
  }
}
