// Copies the SQLite database at one point in time, while others read and write it.
import { onOwnConnection } from './own-connection.ts';

interface CopyOptions {
  /** Tables whose rows are left out of the copy, without leaving traces in its bytes. */
  withoutRowsOf: readonly string[];
  /** Aborted when the copy is no longer needed. */
  signal: AbortSignal;
}

const BUSY_TIMEOUT_MS = 5000;

/** A separate connection has its own driver thread, so other statements do not wait. */
async function runOn(file: string, sql: string, signal: AbortSignal): Promise<void> {
  await onOwnConnection(file, signal, (database) => database.exec(sql));
}

/**
 * Uses one read transaction, which does not block writers. The WAL cannot be checkpointed meanwhile and grows.
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
  // Without this, the bytes of deleted rows stay in the file.
  const settings = ['PRAGMA secure_delete = ON', 'PRAGMA journal_mode = MEMORY'];
  await runOn(target, [...settings, ...deletions].join('; '), signal);
}
