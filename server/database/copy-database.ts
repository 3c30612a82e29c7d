// A copy of the SQLite database as it is at one moment, made while others read and write it.
import type { Database } from 'sqlite3';

interface CopyOptions {
  /** Tables whose rows stay out of the copy; not a byte of them is left in it. */
  withoutRowsOf: readonly string[];
  /** Aborted when nobody needs the copy any more. */
  signal: AbortSignal;
}

const BUSY_TIMEOUT_MS = 5000;

async function openFile(file: string): Promise<Database> {
  const { default: sqlite3 } = await import('sqlite3');
  return new Promise((resolve, reject) => {
    const opened = new sqlite3.Database(file, sqlite3.OPEN_READWRITE, (error) =>
      error ? reject(error) : resolve(opened),
    );
  });
}

/** On a connection of its own, which waits in a thread of its own: nobody else has to. */
async function runOn(file: string, sql: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  const database = await openFile(file);
  const interrupt = () => database.interrupt();
  signal.addEventListener('abort', interrupt);
  try {
    await new Promise<void>((resolve, reject) => {
      database.exec(sql, (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    signal.removeEventListener('abort', interrupt);
    await new Promise<void>((resolve) => {
      database.close(() => resolve());
    });
  }
}

/**
 * One read transaction, which no writer waits for; the log cannot be written back meanwhile, and grows.
 * @param target a file that is not there yet
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
  // Of a row that is deleted the bytes would stay in the file.
  const settings = ['PRAGMA secure_delete = ON', 'PRAGMA journal_mode = MEMORY'];
  await runOn(target, [...settings, ...deletions].join('; '), signal);
}
