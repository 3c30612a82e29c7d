// The `before-restore-*` folders in the data directory, each with the data that a restore replaced.
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';

/** The name that a restore gives: `before-restore-20260131T120000Z`, with `-2` and so on if it is taken. */
const NAME = /^before-restore-(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)Z(?:-\d+)?$/u;

interface RestoreFolder {
  path: string;
  /** Epoch milliseconds, from the name. */
  restoredAt: number;
}

async function bytesBelow(folder: string): Promise<number> {
  const entries = await readdir(folder, { recursive: true });
  const sizes = await Promise.all(
    // A file may be removed meanwhile.
    entries.map((entry) => stat(join(folder, entry)).catch(() => null)),
  );
  return sizes.reduce((sum, found) => sum + (found?.isFile() ? found.size : 0), 0);
}

export function createRestoreFolders(dataDir: string) {
  async function list(): Promise<RestoreFolder[]> {
    const entries = await readdir(dataDir, { withFileTypes: true });
    return entries.flatMap((entry) => {
      const [, year, month, day, hours, minutes, seconds] = NAME.exec(entry.name) ?? [];
      if (!entry.isDirectory() || year === undefined) return [];
      const restoredAt = Date.parse(`${year}-${month}-${day}T${hours}:${minutes}:${seconds}Z`);
      return Number.isNaN(restoredAt) ? [] : [{ path: join(dataDir, entry.name), restoredAt }];
    });
  }

  return {
    /** @param before epoch milliseconds @returns the number of removed folders */
    async removeBefore(before: number): Promise<number> {
      const old = (await list()).filter(({ restoredAt }) => restoredAt < before);
      for (const { path } of old) await rm(path, { recursive: true, force: true });
      return old.length;
    },

    async measure(): Promise<{ entries: number; bytes: number; oldestAt: number | null }> {
      const folders = await list();
      const sizes = await Promise.all(folders.map(({ path }) => bytesBelow(path).catch(() => 0)));
      return {
        entries: folders.length,
        bytes: sizes.reduce((sum, size) => sum + size, 0),
        oldestAt: folders.length === 0 ? null : Math.min(...folders.map(({ restoredAt }) => restoredAt)),
      };
    },
  };
}

export type RestoreFolders = ReturnType<typeof createRestoreFolders>;
