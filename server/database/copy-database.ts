// Copies the SQLite database as it is at one moment, while others read and write it.
import { onOwnConnection } from './own-connection.ts';

interface CopyOptions {
  /** Tables whose rows stay out of the copy; not a byte of them is left in it. */
  withoutRowsOf: readonly string[];
  /** Aborted when the copy is no longer needed. */
  signal: AbortSignal;
}

const BUSY_TIMEOUT_MS = 5000;

/** On its own connection, which works in its own thread: nothing else has to wait. */
async function runOn(file: string, sql: string, signal: AbortSignal): Promise<void> {
  await onOwnConnection(file, signal, (database) => database.exec(sql));
}

/**
 * One read transaction, which no writer waits for; the log cannot be written back meanwhile, and grows.
 * @param target a file that does not exist yet
 * @throws Error with SQLite's code, such as `SQLITE_FULL`
 */
export async function copyDatabase(
  source: string,
  target: string,
  { withoutRowsOf, signal }: CopyOptions,
): Promise<void> {
  const quoted = target.replaceAll("'", "''");
  await runOn(source, `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; VACUUM INTO '${quoted}'`, signal);
  const deletions = withoutRowsOf.map((table) => `DELETE FROM ${table}`);
  // The bytes of a deleted row would otherwise stay in the file.
  const settings = ['PRAGMA secure_delete = ON', 'PRAGMA journal_mode = MEMORY'];
  await runOn(target, [...settings, ...deletions].join('; '), signal);
}
