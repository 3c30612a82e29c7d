// Copies the database at one point in time into a SQLite file, while others read and write it.
import { connect, type DatabaseLocation } from './connect.ts';
import { copyToSqlite } from './move/copy-to-sqlite.ts';
import { inLongTransaction } from './move/long-transaction.ts';
import { createSqliteFile } from './move/new-sqlite-file.ts';
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

/** In one transaction that sees the database as it was at its start. */
async function copyPostgres(
  source: DatabaseLocation,
  target: string,
  { withoutRowsOf: without, signal }: CopyOptions,
): Promise<void> {
  signal.throwIfAborted();
  await createSqliteFile(target);
  const sequelize = await connect(source);
  try {
    await inLongTransaction(
      sequelize,
      (connection) => copyToSqlite({ connection, file: target, without, signal, onProgress: () => {} }),
      { isSnapshot: true },
    );
  } finally {
    await sequelize.close();
  }
}

/**
 * On SQLite, uses one read transaction, which does not block writers. The WAL cannot be checkpointed meanwhile and grows.
 * @param source has this version's schema
 * @param target a file that does not exist yet
 * @throws Error with SQLite's code, such as `SQLITE_FULL`
 */
export async function copyDatabase(
  source: DatabaseLocation,
  target: string,
  options: CopyOptions,
): Promise<void> {
  const { withoutRowsOf, signal } = options;
  if (source.url !== null) return copyPostgres(source, target, options);
  const quoted = target.replaceAll("'", "''");
  await runOn(source.file, `PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}; VACUUM INTO '${quoted}'`, signal);
  const deletions = withoutRowsOf.map((table) => `DELETE FROM ${table}`);
  // Without this, the bytes of deleted rows stay in the file.
  const settings = ['PRAGMA secure_delete = ON', 'PRAGMA journal_mode = MEMORY'];
  await runOn(target, [...settings, ...deletions].join('; '), signal);
}
