// Replaces a file on Windows, where a virus scanner or an indexer may briefly have it open.
import { renameSync } from 'node:fs';

const ATTEMPTS = 10;
const PAUSE_MS = 100;
/** Error codes on Windows while another program has the file open exclusively. */
const BUSY = ['EPERM', 'EACCES', 'EBUSY'];

interface Options {
  rename?: (from: string, to: string) => void;
  platform?: NodeJS.Platform;
}

function pause(): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, PAUSE_MS);
}

/**
 * Blocks for up to a second. On other platforms, an error is final and thrown immediately.
 * @throws the file system's error
 */
export function renameWhenFree(
  from: string,
  to: string,
  { rename = renameSync, platform = process.platform }: Options = {},
): void {
  for (let attempt = 1; ; attempt += 1) {
    try {
      rename(from, to);
      return;
    } catch (error) {
      const isBusy = BUSY.includes((error as NodeJS.ErrnoException).code ?? '');
      if (platform !== 'win32' || !isBusy || attempt === ATTEMPTS) throw error;
      pause();
    }
  }
}
