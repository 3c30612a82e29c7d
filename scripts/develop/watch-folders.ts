import { existsSync, type FSWatcher, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { root } from '../paths.mjs';

/** An editor's save is several file events. */
const SETTLE_MS = 50;

/** The folder and every one in it, relative to the project; none if there is no such folder. */
function foldersIn(name: string): string[] {
  if (!existsSync(join(root, name))) return [];
  const inside = readdirSync(join(root, name), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length));
  return [name, ...inside];
}

/**
 * Watches each folder and every one in it. Not with one recursive watcher: on Linux that one does not notice changes
 * to a file any more once an editor has replaced it, as most do at every save.
 * @param names of folders in the project
 * @param onChange with the last file that changed
 * @returns ends it
 */
export function watchFolders(names: readonly string[], onChange: (file: string) => void): () => void {
  let watchers: FSWatcher[] = [];
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;

  function note(file: string): void {
    clearTimeout(timer);
    timer = setTimeout(() => {
      if (isOver) return;
      // Folders come and go.
      watchAll();
      onChange(file);
    }, SETTLE_MS);
  }

  function watchFolder(folder: string): FSWatcher[] {
    const path = join(root, folder);
    try {
      return [watch(path, (_event, file) => note(join(folder, file ?? ''))).on('error', () => note(folder))];
    } catch {
      // It went away just now.
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
