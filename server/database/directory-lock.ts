// One server per data directory: an exclusive lock that the operating system takes back when its process dies.
import { createRequire } from 'node:module';
import { join } from 'node:path';

const require = createRequire(import.meta.url);

interface LockDatabase {
  exec(sql: string, done: (error: (Error & { code?: string }) | null) => void): void;
  close(done: () => void): void;
}

interface Driver {
  Database: new (file: string, done: (error: Error | null) => void) => LockDatabase;
}

export interface DirectoryLock {
  release(): Promise<void>;
}

/**
 * Holds an exclusive SQLite lock on an empty database beside the real one. Unlike a file with a process id
 * in it, it cannot be left behind by a crash or mistaken for that of a process which got the same id.
 * @param waitMs how long to wait for another holder
 * @returns null if somebody else holds it
 */
export async function lockDirectory(dataDir: string, waitMs: number): Promise<DirectoryLock | null> {
  const { Database } = require('sqlite3') as Driver;
  const file = join(dataDir, 'server.lock');
  const database = await new Promise<LockDatabase>((resolve, reject) => {
    const opened: LockDatabase = new Database(file, (error) => (error ? reject(error) : resolve(opened)));
  });
  const close = () =>
    new Promise<void>((resolve) => {
      database.close(() => resolve());
    });
  const failure = await new Promise<(Error & { code?: string }) | null>((resolve) => {
    database.exec(`PRAGMA busy_timeout = ${waitMs}; BEGIN EXCLUSIVE`, resolve);
  });
  if (failure === null) return { release: close };
  await close();
  if (failure.code === 'SQLITE_BUSY') return null;
  throw failure;
}
