import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { root } from '../paths.mjs';

/** Saving a file in an editor causes several events. */
const SETTLE_MS = 50;

/** The folder and its subfolders, relative to the project; empty if it does not exist. */
function foldersIn(name: string): string[] {
  if (!existsSync(join(root, name))) return [];
  const inside = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  return [name, ...inside];
}

/**
 * Watches the folders and their subfolders. One recursive watcher would not be enough: on Linux it misses changes
 * to a file that an editor has replaced, as most do on every save.
 * @param names of folders in the project
 * @param onChange receives the last changed file
 * @returns a function that ends the watch
 */
export function watchFolders(names: readonly string[], onChange: (file: string) => void): () => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function note(file: string): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isOver) return;
      // Folders may have been added or removed.
      watchAll();
      onChange(file);
    }, SETTLE_MS);
  }

  function watchFolder(folder: string): FSWatcher[] {
    const path = join(root, folder);
    try {
      return [watch(path, (_event, file) => note(join(folder, file ?? ''))).on('error', () => note(folder))];
    } catch {
      // The folder was just removed.
      note(folder);
      return [];
    }
  }

  function watchAll(): void {
    for (const watcher of watchers) watcher.close();
    watchers = names.flatMap((name) => foldersIn(name)).flatMap((folder) => watchFolder(folder));
  }

  watchAll();
  return () => {
    isOver = true;
    clearTimeout(timer);
    for (const watcher of watchers) watcher.close();
  };
}
