// Writes small files so that after a crash there is the old content or the new, never half of it.
import { closeSync, fsyncSync, openSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';
import { renameWhenFree } from './retry-rename.ts';

/** Only the owner may read it (mode 0600). */
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

/** What was made, renamed or removed in it is so after a power cut, too. */
export function syncDirectory(path: string): void {
  // Windows cannot open a directory, and makes a rename durable by itself.
  if (process.platform === 'win32') return;
  const directory = openSync(path, 'r');
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}
