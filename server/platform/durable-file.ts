// Writes small files atomically: after a crash, a file has either the old or the new content.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { renameWhenFree } from './retry-rename.ts';

/** Readable by the owner only (mode 0600). */
export function writeFileDurably(path: string, content: string): void {
  const draft = `${path}.${process.pid}.tmp`;
  const file = openSync(draft, 'w', 0o600);
  try {
    writeSync(file, content);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameWhenFree(draft, path);
  syncDirectory(dirname(path));
}

/** Makes created, renamed and removed entries survive a power failure. */
export function syncDirectory(path: string): void {
  // Windows cannot open a directory; its renames are durable anyway.
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
