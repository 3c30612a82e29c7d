// One server per data directory: an exclusive lock that the operating system releases when the process ends.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'sqlite3';
import { aboutDatabaseFile } from './unusable-database.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/** Created at the first use of the directory, and never removed. */
export const lockFile = (dataDir: string) => join(dataDir, 'server.lock');

/**
 * Takes an exclusive SQLite lock on an empty database next to the real one. A crash cannot leave it behind, and unlike
 * a PID file it cannot be confused with another process that received the same ID.
 * @returns null if another process has the lock
 * @throws UnusableDatabaseError
 */
export async function lockDirectory(dataDir: string): Promise<DirectoryLock | null> {
  const { default: sqlite3 } = await import('sqlite3');
  const file = lockFile(dataDir);
  const database = await new Promise<Database>((resolve, reject) => {
    const opened = new sqlite3.Database(file, (error) => (error ? reject(error) : resolve(opened)));
  }).catch((error: unknown) => {
    throw aboutDatabaseFile(error, file);
  });
  const close = () =>
    new Promise<void>((resolve) => {
      database.close(() => resolve());
    });
  const failure = await new Promise<(Error & { code?: string }) | null>((resolve) => {
    database.exec('PRAGMA busy_timeout = 0; BEGIN EXCLUSIVE', resolve);
  });
  if (failure === null) return { release: close };
  await close();
  if (failure.code === 'SQLITE_BUSY') return null;
  throw aboutDatabaseFile(failure, file);
}

/**
 * Whether a process has the lock. Writes nothing, so any user may ask.
 * @returns true if that is unknown, too
 */
export async function isDirectoryLocked(dataDir: string): Promise<boolean> {
  const file = lockFile(dataDir);
  if (!existsSync(file)) return false;
  const { default: sqlite3 } = await import('sqlite3');
  return new Promise((resolve) => {
    const database = new sqlite3.Database(file, sqlite3.OPEN_READONLY, (failure) => {
      if (failure) {
        resolve(true);
        return;
      }
      database.exec('PRAGMA busy_timeout = 0; SELECT count(*) FROM sqlite_schema', (error) => {
        database.close(() => resolve(error !== null));
      });
    });
  });
}
