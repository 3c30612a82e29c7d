// Detects that the data directory or its database was removed, unmounted or replaced while the server has it open.
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
  /** @returns the first path that is missing or replaced; null if all are in place */
  findLost(): Promise<string | null>;
  close(): void;
}

const isSame = (one: Identity, other: Identity): boolean => one.dev === other.dev && one.ino === other.ino;

function identify(path: string): Watched | null {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats ? { path, identity: { dev: stats.dev, ino: stats.ino } } : null;
}

/**
 * Compares device and inode: a few system calls, outside of requests. A directory watcher (inotify) would wake this
 * thread for every log write and does not report an unmount.
 * @param directory kept open, so that its inode number is not reused; SQLite keeps its files open
 * @param files existing ones are watched; a file that another process may have locked must not be opened here
 */
export function watchDataFiles(directory: string, files: readonly string[]): DataFiles {
  // Windows cannot open a directory, and does not allow its removal while a file in it is open.
  const handle = process.platform === 'win32' ? null : openSync(directory, 'r');
  const folder = identify(directory);
  const watched = files.map((path) => identify(path)).filter((file) => file !== null);

  async function isLost({ path, identity }: Watched): Promise<boolean> {
    // Any error means that the file cannot be used.
    const found = await stat(path, { bigint: true }).catch(() => null);
    return found === null || !isSame(found, identity);
  }

  return {
    async findLost() {
      // At once, so that the idle process wakes up once. A file cannot be found in a directory that is missing.
      const lost = await Promise.all(watched.map((file) => isLost(file)));
      if (watched.length > 0 && !lost.includes(true)) return null;
      if (folder && (await isLost(folder))) return directory;
      return watched.find((_, index) => lost[index])?.path ?? null;
    },
    close() {
      if (handle !== null) closeSync(handle);
    },
  };
}
