// Notices that the data directory, or the database in it, was removed, unmounted or replaced while the server has it open.
import { closeSync, openSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';

interface Identity {
  dev: bigint;
  ino: bigint;
}

interface Watched {
  path: string;
  identity: Identity;
}

export interface DataFiles {
  /** @returns the first path that is not what it was; null if all are */
  findLost(): Promise<string | null>;
  close(): void;
}

const isSame = (one: Identity, other: Identity): boolean => one.dev === other.dev && one.ino === other.ino;

function identify(path: string): Watched | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats ? { path, identity: { dev: stats.dev, ino: stats.ino } } : null;
}

/**
 * Compares device and inode: a few system calls, which no request waits for. A watcher on the directory (inotify) would
 * wake this thread for every write to the log, and says nothing of an unmount.
 * @param directory held open, so that its inode number is not given to its replacement; SQLite holds the files
 * @param files those that exist are watched; a file of which another process may hold a lock must not be opened here
 */
export function watchDataFiles(directory: string, files: readonly string[]): DataFiles {
  // Windows cannot open a directory, and does not let it be removed while a file in it is open.
  const handle = process.platform === 'win32' ? null : openSync(directory, 'r');
  const watched = [directory, ...files].map((path) => identify(path)).filter((file) => file !== null);

  async function isLost({ path, identity }: Watched): Promise<boolean> {
    // Whatever keeps it from being looked at keeps it from being used.
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found === null || !isSame(found, identity);
  }

  return {
    async findLost() {
      for (const file of watched) if (await isLost(file)) return file.path;
      return null;
    },
    close() {
      if (handle !== null) closeSync(handle);
    },
  };
}
