// One server per data directory: an exclusive lock that the operating system takes back when its process dies.
import { join } from 'node:path';
import type { Database } from 'sqlite3';
import { aboutDatabaseFile } from './unusable-database.ts';

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Holds an exclusive SQLite lock on an empty database beside the real one. Unlike a file with a process id
 * in it, it cannot be left behind by a crash or mistaken for that of a process which got the same id.
 * @returns null if somebody else holds it
 * @throws UnusableDatabaseError
 */
export async function lockDirectory(dataDir: string): Promise<DirectoryLock | null> {
  const { default: sqlite3 } = await import('sqlite3');
  const file = join(dataDir, 'server.lock');
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
